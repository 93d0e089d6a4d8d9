# The Python module, and the SPIR-V of common kernels, compiled by the library just built.
set(PYBIND11_FINDPYTHON ON)
find_package(pybind11 CONFIG REQUIRED)

file(GLOB binding_sources CONFIGURE_DEPENDS bindings/*.cpp)
pybind11_add_module(_C ${binding_sources})
target_link_libraries(_C PRIVATE xpu_runtime)
set_target_properties(_C PROPERTIES INSTALL_RPATH "$ORIGIN/lib")

set(stage "${CMAKE_CURRENT_BINARY_DIR}/stage")
add_custom_command(
  OUTPUT "${stage}/prebuilt"
  COMMAND "${CMAKE_COMMAND}" -E rm -rf "${stage}" "${CMAKE_CURRENT_BINARY_DIR}/spirv"
  COMMAND "${CMAKE_COMMAND}" -E copy_directory "${CMAKE_CURRENT_SOURCE_DIR}/src/xpu_runtime" "${stage}/xpu_runtime"
  COMMAND "${CMAKE_COMMAND}" -E copy "$<TARGET_FILE:_C>" "${stage}/xpu_runtime"
  COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/prebuild.py" "${stage}" "${CMAKE_CURRENT_BINARY_DIR}/spirv"
  COMMAND "${CMAKE_COMMAND}" -E touch "${stage}/prebuilt"
  DEPENDS _C xpu_runtime prebuild.py VERBATIM)
add_custom_target(prebuilt ALL DEPENDS "${stage}/prebuilt")
install(DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/spirv" DESTINATION xpu_runtime)
install(TARGETS _C LIBRARY DESTINATION xpu_runtime)

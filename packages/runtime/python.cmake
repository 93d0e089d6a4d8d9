# The Python module, and the SPIR-V of the kernels that programs meet first, compiled by the library just built.
set(PYBIND11_FINDPYTHON ON)
find_package(pybind11 CONFIG REQUIRED)

file(GLOB binding_sources CONFIGURE_DEPENDS bindings/*.cpp)
pybind11_add_module(_C ${binding_sources})
target_include_directories(_C PRIVATE csrc)
target_link_libraries(_C PRIVATE xpu_runtime)
set_target_properties(_C PROPERTIES INSTALL_RPATH "$ORIGIN/lib")

set(XPU_READY_PROGRAMS "common" CACHE STRING "Sample programs whose kernels are built ahead, with commas; or all")
set(XPU_READY_FOLDER "" CACHE PATH "Build folder for another Python, whose kernels are taken")
set(stage "${CMAKE_CURRENT_BINARY_DIR}/stage")
set(ready kernels.ready programs.ready)
if(XPU_READY_FOLDER)
  list(TRANSFORM ready PREPEND "${XPU_READY_FOLDER}/")
else()
  list(TRANSFORM ready PREPEND "${CMAKE_CURRENT_BINARY_DIR}/")
  set(ready_script "${CMAKE_CURRENT_SOURCE_DIR}/ready_kernels/pack.py")
  add_custom_command(
    OUTPUT ${ready}
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${stage}" ${ready}
    COMMAND "${CMAKE_COMMAND}" -E copy_directory "${CMAKE_CURRENT_SOURCE_DIR}/src/xpu_runtime" "${stage}/xpu_runtime"
    COMMAND "${CMAKE_COMMAND}" -E copy "$<TARGET_FILE:_C>" "${stage}/xpu_runtime"
    COMMAND "${CMAKE_COMMAND}" -E copy "$<TARGET_FILE:xpu_runtime>" "${stage}/xpu_runtime/lib/$<TARGET_FILE_NAME:xpu_runtime>"
    COMMAND "${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${XPU_VENDOR_LIB}"
            "${Python_EXECUTABLE}" "${ready_script}" "${stage}" "${CMAKE_CURRENT_BINARY_DIR}" "${XPU_READY_PROGRAMS}"
    DEPENDS _C xpu_runtime "${ready_script}" ready_kernels/kernels.json src/xpu_runtime/pack_file.py VERBATIM)
  add_custom_target(ready_kernels ALL DEPENDS ${ready})
endif()
install(FILES ${ready} DESTINATION xpu_runtime)
install(TARGETS _C LIBRARY DESTINATION xpu_runtime)

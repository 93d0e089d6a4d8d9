# The runtime inside its wheel: target XpuRuntime::runtime.
include("${CMAKE_CURRENT_LIST_DIR}/WheelFile.cmake")

xpu_wheel_file(runtime_abi xpu-runtime xpu_runtime/include/xpu/abi.h)
get_filename_component(runtime_folder "${runtime_abi}/../.." ABSOLUTE)
add_library(XpuRuntime::runtime INTERFACE IMPORTED)
target_include_directories(XpuRuntime::runtime INTERFACE "${runtime_folder}/include")
target_link_libraries(XpuRuntime::runtime INTERFACE "${runtime_folder}/lib/libxpu_runtime.so")
# The vendor libraries it needs are found by its own rpath when it is loaded.
target_link_options(XpuRuntime::runtime INTERFACE -Wl,--allow-shlib-undefined)

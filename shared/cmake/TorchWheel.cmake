# PyTorch inside its wheel: target XpuTorch::torch, and XpuTorch::python for code that meets Python objects.
include("${CMAKE_CURRENT_LIST_DIR}/WheelFile.cmake")

xpu_wheel_file(torch_folder torch torch/version.py)
add_library(XpuTorch::torch INTERFACE IMPORTED)
target_include_directories(XpuTorch::torch INTERFACE "${torch_folder}/include" "${torch_folder}/include/torch/csrc/api/include")
target_link_libraries(XpuTorch::torch INTERFACE "${torch_folder}/lib/libtorch_cpu.so" "${torch_folder}/lib/libc10.so")
add_library(XpuTorch::python INTERFACE IMPORTED)
target_link_libraries(XpuTorch::python INTERFACE XpuTorch::torch "${torch_folder}/lib/libtorch_python.so")

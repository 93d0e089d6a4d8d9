# PyTorch inside its wheels. The versions to compile for are those of XPU_TORCH_FOLDERS, unpacked wheels (Python,
# headers, libraries), or else the one that is installed where Python builds.
include("${CMAKE_CURRENT_LIST_DIR}/WheelFile.cmake")

set(XPU_TORCH_FOLDERS "" CACHE STRING "Folders `torch` of the wheels to compile for; empty: the one that is installed")

# xpu_torch_folders(RESULT): the folders `torch` of the versions to compile for.
function(xpu_torch_folders result)
  set(folders "${XPU_TORCH_FOLDERS}")
  if(NOT folders)
    xpu_wheel_file(folders torch torch/version.py)
  endif()
  set(${result} "${folders}" PARENT_SCOPE)
endfunction()

# xpu_torch_release(FOLDER RESULT): its minor version, such as 2_13.
function(xpu_torch_release folder result)
  file(STRINGS "${folder}/version.py" line REGEX "^__version__ = ")
  if(NOT line MATCHES "'([0-9]+)\\.([0-9]+)\\.")
    message(FATAL_ERROR "${folder}/version.py names no version of PyTorch: ${line}")
  endif()
  set(${result} "${CMAKE_MATCH_1}_${CMAKE_MATCH_2}" PARENT_SCOPE)
endfunction()

# xpu_torch_targets(FOLDER): XpuTorch::torch, and XpuTorch::python for code that meets Python objects, in this directory.
function(xpu_torch_targets folder)
  add_library(XpuTorch::torch INTERFACE IMPORTED)
  target_include_directories(XpuTorch::torch INTERFACE "${folder}/include" "${folder}/include/torch/csrc/api/include")
  target_link_libraries(XpuTorch::torch INTERFACE "${folder}/lib/libtorch_cpu.so" "${folder}/lib/libc10.so")
  # What they need is there when they are loaded: CUDA's libraries, where the wheel is the one for CUDA.
  target_link_options(XpuTorch::torch INTERFACE -Wl,--allow-shlib-undefined)
  add_library(XpuTorch::python INTERFACE IMPORTED)
  target_link_libraries(XpuTorch::python INTERFACE XpuTorch::torch "${folder}/lib/libtorch_python.so")
endfunction()

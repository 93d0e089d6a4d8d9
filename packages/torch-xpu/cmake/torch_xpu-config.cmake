# PyTorch's device xpu for C++ programs, without Python: target torch_xpu::torch_xpu.
#
#   find_package(Torch REQUIRED)
#   find_package(torch_xpu REQUIRED)
#   target_link_libraries(app "${TORCH_LIBRARIES}" torch_xpu::torch_xpu)
#
# The folders for CMAKE_PREFIX_PATH are torch.utils.cmake_prefix_path and torch_xpu.cmake_prefix_path.
if(TARGET torch_xpu::torch_xpu)
  return()
endif()
get_filename_component(torch_xpu_folder "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
get_filename_component(torch_xpu_site_packages "${torch_xpu_folder}/.." ABSOLUTE)
foreach(torch_xpu_needed torch/version.py torch/lib/libtorch_cpu.so xpu_runtime/lib/libxpu_runtime.so)
  if(NOT EXISTS "${torch_xpu_site_packages}/${torch_xpu_needed}")
    set(torch_xpu_FOUND FALSE)
    set(torch_xpu_NOT_FOUND_MESSAGE "there is no ${torch_xpu_needed} in ${torch_xpu_site_packages}; \
install torch-xpu, torch and xpu-runtime in one environment")
    return()
  endif()
endforeach()

# What is compiled lies in a folder for each minor version of PyTorch.
file(STRINGS "${torch_xpu_site_packages}/torch/version.py" torch_xpu_version REGEX "^__version__ = ")
string(REGEX MATCH "[0-9]+[.][0-9]+" torch_xpu_version "${torch_xpu_version}")
string(REPLACE "." "_" torch_xpu_compiled "torch_${torch_xpu_version}")
set(torch_xpu_compiled "${torch_xpu_folder}/${torch_xpu_compiled}")
if(NOT EXISTS "${torch_xpu_compiled}/lib")
  set(torch_xpu_FOUND FALSE)
  set(torch_xpu_NOT_FOUND_MESSAGE "this torch-xpu was not compiled for torch ${torch_xpu_version}")
  return()
endif()

add_library(torch_xpu::torch_xpu INTERFACE IMPORTED)
target_include_directories(torch_xpu::torch_xpu INTERFACE "${torch_xpu_folder}/include" "${torch_xpu_compiled}/include")
# Programs call no function of the libraries, which register the device when they are loaded. Their own dependencies are
# found by their rpaths.
target_link_options(torch_xpu::torch_xpu INTERFACE -Wl,--allow-shlib-undefined "-Wl,-rpath,${torch_xpu_compiled}/lib"
                    "-Wl,-rpath,${torch_xpu_site_packages}/torch/lib")
target_link_libraries(
  torch_xpu::torch_xpu
  INTERFACE -Wl,--push-state,--no-as-needed "${torch_xpu_compiled}/lib/libtorch_xpu_bridge.so"
            "${torch_xpu_compiled}/lib/libtorch_xpu_device.so" -Wl,--pop-state)

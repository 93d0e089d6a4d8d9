# Finds SYCL and oneDNN inside the vendor wheels of the Python that builds, never in a system oneAPI.
#
# Defines targets XpuVendor::sycl and XpuVendor::dnnl, and XPU_VENDOR_LIB, the folder of their libraries.
include("${CMAKE_CURRENT_LIST_DIR}/WheelFile.cmake")

xpu_wheel_file(XPU_VENDOR_LIB intel-sycl-rt libsycl.so)
xpu_wheel_file(sycl_include intel-sycl-rt sycl/sycl.hpp)
xpu_wheel_file(dnnl_lib onednn libdnnl.so.3)
xpu_wheel_file(dnnl_include onednn-devel oneapi/dnnl/dnnl_sycl.hpp)

add_library(XpuVendor::sycl INTERFACE IMPORTED)
get_filename_component(sycl_root "${sycl_include}" DIRECTORY)
get_filename_component(dnnl_root "${dnnl_include}/../.." ABSOLUTE)
target_include_directories(XpuVendor::sycl INTERFACE "${sycl_root}")
target_compile_definitions(XpuVendor::sycl INTERFACE SYCL_DISABLE_FSYCL_SYCLHPP_WARNING)
target_link_libraries(XpuVendor::sycl INTERFACE "${XPU_VENDOR_LIB}/libsycl.so")
# libsycl's own dependencies lie beside it and are found by its rpath when it is loaded.
target_link_options(XpuVendor::sycl INTERFACE -Wl,--allow-shlib-undefined)

add_library(XpuVendor::dnnl INTERFACE IMPORTED)
target_include_directories(XpuVendor::dnnl INTERFACE "${dnnl_root}")
target_link_libraries(XpuVendor::dnnl INTERFACE "${dnnl_lib}/libdnnl.so.3")

# From site-packages/PACKAGE/lib to the lib folder that the vendor wheels install into.
set(XPU_VENDOR_RPATH "$ORIGIN/../../../..")

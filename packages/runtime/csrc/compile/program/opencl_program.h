// Programs through the OpenCL driver, whose binaries can be saved and loaded.
#pragma once

#include <sycl/sycl.hpp>

#include "compile/program/program.h"

namespace xpu {

ProgramPtr load_opencl_spirv(int device, const Bytes& spirv);
/// Returns null if the driver rejects the binary, because another version of it wrote that.
ProgramPtr load_opencl_binary(int device, const Bytes& binary);
/// Returns an empty binary if the bundle is not of OpenCL.
Bytes opencl_binary(const sycl::kernel_bundle<sycl::bundle_state::executable>& bundle);

}  // namespace xpu

// Programs through the OpenCL driver, which gives its binaries out and takes them back.
#pragma once

#include <sycl/sycl.hpp>

#include "compile/program.h"

namespace xpu {

ProgramPtr load_opencl_spirv(int device, const Bytes& spirv);
/// Null when the driver refuses the binary: another driver version wrote it.
ProgramPtr load_opencl_binary(int device, const Bytes& binary);
/// Empty when the bundle is not of OpenCL.
Bytes opencl_binary(const sycl::kernel_bundle<sycl::bundle_state::executable>& bundle);

}  // namespace xpu

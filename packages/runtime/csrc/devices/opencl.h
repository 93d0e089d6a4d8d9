// OpenCL functions, for SYCL objects of that backend.
#pragma once

#include <CL/cl.h>
#include <dlfcn.h>

#include "xpu/error.h"

namespace xpu {

/// SYCL has loaded the OpenCL loader into the process; linking it would load a second one.
template <class F>
F opencl(const char* name) {
  void* address = dlsym(RTLD_DEFAULT, name);
  expect<InternalError>(address != nullptr, "the OpenCL loader has no ", name);
  return reinterpret_cast<F>(address);
}

/// Use as XPU_CL(clFinish)(queue). The function is looked up at the first call.
#define XPU_CL(name)                                                   \
  ([] {                                                                \
    static const auto found = ::xpu::opencl<decltype(&::name)>(#name); \
    return found;                                                      \
  }())

}  // namespace xpu

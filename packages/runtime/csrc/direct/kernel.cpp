#include "direct/kernel.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <sycl/backend/opencl.hpp>
#include <sycl/sycl.hpp>

#include "devices/opencl.h"

namespace xpu::direct {
namespace {

// Most arguments have 8 bytes.
bool same_bytes(const void* a, const void* b, std::size_t size) {
  return size == 8 ? std::memcmp(a, b, 8) == 0 : std::memcmp(a, b, size) == 0;
}

bool same_layout(const ArgumentList& a, const ArgumentList& b) {
  return a.count == b.count && std::equal(a.items, a.items + a.count, b.items);
}

}  // namespace

Kernel::Kernel(sycl::kernel& kernel) {
  auto original = sycl::get_native<sycl::backend::opencl>(kernel);
  cl_program program = nullptr;
  std::size_t length = 0;
  XPU_CL(clGetKernelInfo)(original, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr);
  XPU_CL(clGetKernelInfo)(original, CL_KERNEL_FUNCTION_NAME, 0, nullptr, &length);
  std::string name(length, '\0');
  XPU_CL(clGetKernelInfo)(original, CL_KERNEL_FUNCTION_NAME, length, name.data(), nullptr);
  kernel_ = XPU_CL(clCreateKernel)(program, name.c_str(), nullptr);
  XPU_CL(clReleaseKernel)(original);
}

Kernel::~Kernel() {
  if (kernel_) XPU_CL(clReleaseKernel)(kernel_);
}

bool Kernel::set_one(std::size_t index, const ArgumentList& args) {
  auto& item = args.items[index];
  auto at = static_cast<cl_uint>(index);
  auto* data = args.data(index);
  auto status = item.pointer ? XPU_CL(clSetKernelArgSVMPointer)(kernel_, at, *static_cast<void* const*>(data))
                             : XPU_CL(clSetKernelArg)(kernel_, at, item.size, data);
  return status == CL_SUCCESS;
}

bool Kernel::set(const ArgumentList& args) {
  if (!kernel_) return false;
  // Most launches of a kernel repeat most arguments, and the driver takes long to set one.
  bool is_set = same_layout(set_, args);
  if (!is_set) set_.assign(args);
  for (std::size_t i = 0; i < args.count; ++i) {
    auto& item = args.items[i];
    auto* known = set_.data(i);
    if (is_set && same_bytes(known, args.data(i), item.size)) continue;
    if (!set_one(i, args)) {
      set_ = ManyArgs();
      return false;
    }
    std::memcpy(known, args.data(i), item.size);
  }
  return true;
}

bool Kernel::enqueue(Submission& submission, const NdRange& range) {
  std::size_t global[3], local[3];  // fastest dimension first
  for (int i = 0; i < range.dims; ++i) {
    global[i] = range.global[range.dims - 1 - i];
    local[i] = range.local[range.dims - 1 - i];
  }
  cl_event end = nullptr;
  auto status = XPU_CL(clEnqueueNDRangeKernel)(submission.queue, kernel_, static_cast<cl_uint>(range.dims),
                                               nullptr, global, local, 0, nullptr, &end);
  if (status != CL_SUCCESS) return false;
  submission.event = NativeEvent(end);
  return true;
}

bool Kernel::enqueue(Submission& submission, const NdRange& range, const ArgumentList& args) {
  std::lock_guard lock(mutex_);
  return set(args) && enqueue(submission, range);
}

}  // namespace xpu::direct

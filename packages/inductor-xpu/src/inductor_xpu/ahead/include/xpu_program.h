// What the C++ that inductor-xpu writes for a graph is made of, besides PyTorch's headers.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <torch/csrc/inductor/aoti_runtime/utils_xpu.h>
#include <torch_xpu/aoti/c_shim_xpu.h>
#include <torch_xpu/aoti/runtime.h>
#include <sycl/sycl.hpp>

#include "xpu_division.h"
#include "xpu_input_check.h"

namespace torch::aot_inductor {

/// What a kernel's check says; see the runtime's fault_code().
struct XpuFault {
  const char* operation;
  const char* text;
};

/// A kernel's definition. All arguments lie in 8 bytes each.
struct XpuKernelCode {
  const char* name;
  const char* source;
  std::int64_t group;
  const XpuArgument* arguments;
  std::size_t argument_count;
  const XpuFault* faults;
  std::size_t fault_count;
};

/// A kernel that is ready for a device. `faults` are the arguments of its checks: the device's record, and a
/// code for each check.
class XpuBuiltKernel {
 public:
  XpuBuiltKernel(const XpuKernelCode& code, std::int32_t device) : code_(code) {
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_xpu_get_kernel(device, code.source, code.name, &kernel_));
    if (code.fault_count) {
      faults.resize(code.fault_count + 1);
      AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_xpu_fault_record(device, &faults[0]));
      for (std::size_t n = 0; n < code.fault_count; ++n)
        AOTI_TORCH_ERROR_CODE_CHECK(
            aoti_torch_xpu_fault_code(code.faults[n].operation, code.faults[n].text, &faults[n + 1]));
    }
  }
  ~XpuBuiltKernel() {
    if (kernel_) aoti_torch_xpu_delete_kernel(kernel_);
  }
  XpuBuiltKernel(const XpuBuiltKernel&) = delete;
  XpuBuiltKernel& operator=(const XpuBuiltKernel&) = delete;

  void launch(void* stream, std::int64_t groups, const std::int64_t* values) const {
    AOTI_TORCH_ERROR_CODE_CHECK(
        aoti_torch_xpu_launch_kernel(kernel_, stream, groups * code_.group, code_.group, code_.arguments,
                                     static_cast<std::int64_t>(code_.argument_count), values));
  }

  std::vector<std::int64_t> faults;

 private:
  const XpuKernelCode& code_;
  XpuKernelHandle kernel_ = nullptr;
};

/// Builds a kernel at its first use. Threads may use it at a time: then one of their kernels stays.
class XpuKernel {
 public:
  XpuKernel(std::nullptr_t = nullptr) {}
  ~XpuKernel() { delete built_.load(); }
  XpuKernel(const XpuKernel&) = delete;
  XpuKernel& operator=(const XpuKernel&) = delete;

  const XpuBuiltKernel& on(const XpuKernelCode& code, std::int32_t device) {
    if (auto* known = built_.load(std::memory_order_acquire)) return *known;
    auto made = std::make_unique<XpuBuiltKernel>(code, device);
    XpuBuiltKernel* none = nullptr;
    if (built_.compare_exchange_strong(none, made.get())) return *made.release();
    return *none;
  }

 private:
  std::atomic<XpuBuiltKernel*> built_{nullptr};
};

inline AOTITorchError xpu_empty_strided(std::int64_t ndim, const std::int64_t* sizes,
                                        const std::int64_t* strides, std::int32_t dtype,
                                        std::int32_t device_type, std::int32_t device,
                                        AtenTensorHandle* ret) {
  static const auto xpu = aoti_torch_device_type_xpu();
  return device_type == xpu ? aoti_torch_xpu_empty_strided(ndim, sizes, strides, dtype, device, ret)
                            : aoti_torch_empty_strided(ndim, sizes, strides, dtype, device_type, device, ret);
}
// Inductor writes calls of the stock function, which goes through PyTorch's dispatcher.
#define aoti_torch_empty_strided xpu_empty_strided

template <class Tensor>
std::int64_t xpu_pointer(const Tensor& tensor) {
  return reinterpret_cast<std::int64_t>(tensor.data_ptr());
}

inline std::int64_t int_bits(double value) {
  return static_cast<std::int64_t>(value);
}
inline std::int64_t int_bits(std::int64_t value) {
  return value;
}
inline std::int64_t float_bits(double value) {
  return std::bit_cast<std::int32_t>(static_cast<float>(value));
}
inline std::int64_t double_bits(double value) {
  return std::bit_cast<std::int64_t>(value);
}

}  // namespace torch::aot_inductor

#include "ops/kernels.h"

#include <map>
#include <mutex>
#include <shared_mutex>
#include <tuple>

#include "xpu/error.h"

namespace torch_xpu {

const char* stored_type(xpu::DType dtype) {
  using D = xpu::DType;
  switch (dtype) {
    case D::boolean:
    case D::u8:
      return "xpu::u8";
    case D::i8:
      return "xpu::i8";
    case D::u16:
      return "xpu::u16";
    case D::i16:
      return "xpu::i16";
    case D::u32:
      return "xpu::u32";
    case D::i32:
      return "xpu::i32";
    case D::u64:
      return "xpu::u64";
    case D::i64:
      return "xpu::i64";
    case D::f16:
      return "xpu::half";
    case D::bf16:
      return "xpu::bf16";
    case D::f32:
      return "float";
    case D::f64:
      return "double";
    case D::c64:
      return "xpu::Complex<float>";
    case D::c128:
      return "xpu::Complex<double>";
    case D::f8e4m3:
      return "xpu::f8e4m3";
    case D::f8e5m2:
      return "xpu::f8e5m2";
    default:
      xpu::fail<xpu::Unsupported>("xpu: no kernel for elements of ", xpu::name_of(dtype));
  }
}

const char* math_type(xpu::DType dtype) {
  return xpu::is_float(dtype) && dtype != xpu::DType::f64 ? "float" : stored_type(dtype);
}

xpu::Kernel kernel_with(int device, const std::string& head, const char* source, const char* name) {
  // Names are literals and compared by address. The name stands for the source: no two sources have a kernel
  // of the same name.
  using Key = std::tuple<int, const char*, std::string>;
  static auto& kernels = *new std::map<Key, xpu::Kernel>;
  static auto& mutex = *new std::shared_mutex;
  Key key{device, name, head};
  {
    std::shared_lock lock(mutex);
    if (auto found = kernels.find(key); found != kernels.end()) return found->second;
  }
  // Without the lock, so that other threads need not wait for a slow build. If two threads build the same
  // source, the runtime compiles it once.
  auto kernel = xpu::build_kernel(device, head + source, name);
  std::unique_lock lock(mutex);
  return kernels.emplace(std::move(key), kernel).first->second;
}

}  // namespace torch_xpu

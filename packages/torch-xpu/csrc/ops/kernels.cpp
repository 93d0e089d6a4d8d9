#include "ops/kernels.h"

#include <map>
#include <mutex>
#include <shared_mutex>
#include <tuple>

#include "xpu/error.h"

namespace torch_xpu {

namespace {

struct Types {
  const char *stored, *math;
};
constexpr Types types[] = {
#define XPU_TYPES(dtype, name, kind, bytes, stored, value, math) {stored, math},
    XPU_FOR_DTYPES(XPU_TYPES)
#undef XPU_TYPES
};

const Types& types_of(xpu::DType dtype) {
  xpu::expect<xpu::Unsupported>(xpu::size_of(dtype), "xpu: no kernel for elements of ", xpu::name_of(dtype));
  return types[static_cast<std::size_t>(dtype)];
}

}  // namespace

const char* stored_type(xpu::DType dtype) {
  return types_of(dtype).stored;
}

const char* math_type(xpu::DType dtype) {
  return xpu::is_float(dtype) ? types_of(dtype).math : stored_type(dtype);
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

// Kernels from source: SYCL C++ compiled at run time, behind three caches.
//
// Builds are thread-safe and block until the kernel is built, which may take a second; see OperationScope.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/sycl_fwd.h"

namespace xpu {

struct KernelState;

/// Handle to a kernel of one device, cheap to copy. The kernel must outlive its use.
class XPU_API Kernel {
 public:
  Kernel() = default;
  explicit Kernel(KernelState* state) : state_(state) {}
  const std::string& name() const;
  int device() const;
  std::size_t max_work_group_size() const;
  sycl::kernel& native() const;
  KernelState* state() const { return state_; }
  explicit operator bool() const { return state_ != nullptr; }

 private:
  KernelState* state_ = nullptr;
};

/// Returns the kernel `name` of `source`, built for `device` unless a cache has it. `options` go to the
/// compiler. A line `#include <xpu/NAME.h>` includes that file of the device library. Throws CompileError
/// with the compiler's log, with line numbers of `source`. The kernel lives as long as the process.
XPU_API Kernel build_kernel(int device, std::string_view source, std::string_view name,
                            const std::vector<std::string>& options = {});
/// Kernel with shared ownership: its module is unloaded with the last reference to one of its kernels.
using SharedKernel = std::shared_ptr<KernelState>;
XPU_API SharedKernel build_shared_kernel(int device, std::string_view source, std::string_view name,
                                         const std::vector<std::string>& options = {});
/// Returns the portable SPIR-V of `source`, from the cache or compiled. Throws Unsupported on backends
/// without it.
XPU_API std::vector<std::uint8_t> build_spirv(int device, std::string_view source,
                                              const std::vector<std::string>& options = {});
/// Starts helper processes early, for threads that are about to build kernels. Does not wait for them.
XPU_API void prestart_build_helpers(int device);
/// Returns the `nd_range` kernel `name` of SPIR-V from another compiler. Lives as long as the process.
XPU_API Kernel kernel_from_spirv(int device, const std::vector<std::uint8_t>& spirv, std::string_view name);

/// Arguments of a launch, in order, by value: pointers, scalars, trivially copyable structs. Does not
/// allocate.
class Args {
 public:
  static constexpr std::size_t max_count = 40, max_bytes = 2040;

  template <class T>
  Args& add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return add_bytes(&value, sizeof(T), std::is_pointer_v<T>);
  }
  /// Throws UsageError for too many arguments or bytes.
  XPU_API Args& add_bytes(const void* data, std::size_t size, bool pointer = false);

  struct Item {
    std::uint16_t offset, size;
    bool pointer;
  };
  std::size_t count() const { return count_; }
  const Item& item(std::size_t i) const { return items_[i]; }
  const void* data(std::size_t i) const { return bytes_ + items_[i].offset; }

 private:
  std::size_t count_ = 0, used_ = 0;
  std::array<Item, max_count> items_;
  alignas(8) unsigned char bytes_[max_bytes];
};

template <class... T>
Args args(const T&... values) {
  Args list;
  (list.add(values), ...);
  return list;
}

/// Number of work-items in all and in a group, slowest dimension first, as in SYCL.
struct NdRange {
  int dims = 1;
  std::size_t global[3] = {1, 1, 1}, local[3] = {1, 1, 1};
  static NdRange linear(std::size_t groups, std::size_t group) {
    return {1, {groups * group, 1, 1}, {group, 1, 1}};
  }
};

/// Enqueues the kernel; see enqueue(). `bytes` is what it moves, for traces. Throws UsageError for wrong
/// arguments, a range over the device's limits, or a stream of another device. An empty range does nothing.
XPU_API void launch(Stream stream, const Kernel& kernel, const NdRange& range, const Args& args,
                    std::size_t bytes = 0);

}  // namespace xpu

// Kernels from source: SYCL C++ compiled at run time, with three caches below.
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

/// A handle to a kernel of one device.
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

/// The kernel `name` of `source`, built for `device` unless a cache has it. `options` go to the compiler.
/// A line `#include <xpu/NAME.h>` brings in that file of the device library.
/// Throws CompileError with the compiler's log, lines numbered as in `source`. Lives as long as the process.
XPU_API Kernel build_kernel(int device, std::string_view source, std::string_view name,
                            const std::vector<std::string>& options = {});
/// A kernel that is given back: its module goes with the last of its kernels that somebody holds.
using SharedKernel = std::shared_ptr<KernelState>;
XPU_API SharedKernel build_shared_kernel(int device, std::string_view source, std::string_view name,
                                         const std::vector<std::string>& options = {});
/// The portable SPIR-V of `source`, from the cache or compiled.
XPU_API std::vector<std::uint8_t> build_spirv(int device, std::string_view source,
                                              const std::vector<std::string>& options = {});
/// Several threads will want kernels soon: a helper that builds some of them may start meanwhile.
XPU_API void prestart_build_helpers(int device);
/// The kernel `name` of SPIR-V made elsewhere, `nd_range` style.
XPU_API Kernel kernel_from_spirv(int device, const std::vector<std::uint8_t>& spirv, std::string_view name);

/// Arguments of a launch, in order, by value: pointers, scalars, trivially copyable structs. No allocation.
class Args {
 public:
  static constexpr std::size_t max_count = 40, max_bytes = 2040;

  template <class T>
  Args& add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return add_bytes(&value, sizeof(T), std::is_pointer_v<T>);
  }
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

/// Work-items in all and in a group, slowest dimension first, as SYCL counts them.
struct NdRange {
  int dims = 1;
  std::size_t global[3] = {1, 1, 1}, local[3] = {1, 1, 1};
  static NdRange linear(std::size_t groups, std::size_t group) {
    return {1, {groups * group, 1, 1}, {group, 1, 1}};
  }
};

/// Queues the kernel. Throws UsageError for a range over the device's limits or a stream of another device.
XPU_API void launch(Stream stream, const Kernel& kernel, const NdRange& range, const Args& args,
                    std::size_t bytes = 0);

}  // namespace xpu

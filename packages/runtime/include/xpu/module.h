// Kernels from source: SYCL C++ compiled at run time, behind caches in memory and on disk.
//
// Builds are thread-safe and block until the kernel is built, which may take a second; see OperationScope.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xpu/abi.h"
#include "xpu/arguments.h"
#include "xpu/cache.h"
#include "xpu/stream.h"
#include "xpu/sycl_fwd.h"

namespace xpu {

struct KernelState;

/// What a kernel takes of its device, as far as the driver and the kernel's image tell.
struct KernelResources {
  std::optional<std::uint64_t> registers;      ///< of a hardware thread
  std::optional<std::uint64_t> spill_bytes;    ///< of a hardware thread, in device memory
  std::optional<std::uint64_t> private_bytes;  ///< of a work-item, in device memory
  std::optional<std::uint64_t> local_bytes;    ///< of a work-group
  std::uint32_t sub_group_size = 0;
  std::size_t max_work_group_size = 0;
};

/// Handle to a kernel of one device, cheap to copy. The kernel must outlive its use.
class XPU_API Kernel {
 public:
  Kernel() = default;
  explicit Kernel(KernelState* state) : state_(state) {}
  const std::string& name() const;
  int device() const;
  std::size_t max_work_group_size() const;
  KernelResources resources() const;
  /// The part of a compute unit's hardware threads that work-groups of this many work-items can use at once,
  /// from 0 to 1; nullopt if the device does not tell.
  std::optional<double> occupancy(std::size_t work_group_size) const;
  sycl::kernel& native() const;
  KernelState* state() const { return state_; }
  explicit operator bool() const { return state_ != nullptr; }

 private:
  KernelState* state_ = nullptr;
};

/// Returns the kernel `name` of `source`, built for `device` unless a cache has it. `options` go to the
/// compiler. A line `#include <xpu/NAME.h>` includes that file of the device library. Throws CompileError
/// with the compiler's log, with line numbers of `source`, and OutOfResources if a kernel needs more local
/// memory than the device has. `sub_group_size` is one of the device's, or 0 for DeviceInfo::sub_group_size.
/// The kernel lives as long as the process.
XPU_API Kernel build_kernel(int device, std::string_view source, std::string_view name,
                            const std::vector<std::string>& options = {}, int sub_group_size = 0);
/// Kernel with shared ownership: its module is unloaded with the last reference to one of its kernels.
using SharedKernel = std::shared_ptr<KernelState>;
XPU_API SharedKernel build_shared_kernel(int device, std::string_view source, std::string_view name,
                                         const std::vector<std::string>& options = {},
                                         int sub_group_size = 0);
/// Returns the portable SPIR-V of `source`, from the cache or compiled. Throws Unsupported on backends
/// without it.
XPU_API std::vector<std::uint8_t> build_spirv(int device, std::string_view source,
                                              const std::vector<std::string>& options = {},
                                              int sub_group_size = 0);
/// Tells where a build of `source` would find it now, and why not elsewhere. `source` may also be the file
/// that XPU_DUMP_KERNELS wrote of it.
XPU_API std::vector<StoreAnswer> explain_kernel(int device, std::string_view source,
                                                const std::vector<std::string>& options = {},
                                                int sub_group_size = 0);
/// Starts helper processes early, for threads that are about to build kernels. Does not wait for them.
XPU_API void prestart_build_helpers(int device);
/// Returns the `nd_range` kernel `name` of SPIR-V from another compiler.
XPU_API SharedKernel kernel_from_spirv(int device, const std::vector<std::uint8_t>& spirv,
                                       std::string_view name);

}  // namespace xpu

// Kernels from source: SYCL C++ compiled at run time, behind three caches.
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
struct ReadyKernel {
  std::vector<std::uint8_t> key, spirv;
};
/// Returns SPIR-V to ship with the library, and the key under which a process finds it. `cpu_vector_bytes` is
/// that of the CPUs it is for, or 0.
XPU_API ReadyKernel build_ready_kernel(int device, std::string_view source,
                                       const std::vector<std::string>& options, int sub_group_size,
                                       int cpu_vector_bytes);
/// Returns the SPIR-V of all kernels that ship for the device, none if its backend does not use SPIR-V. A
/// program that wants one of them builds the same module, so that building it ahead fills the cache.
XPU_API std::vector<std::vector<std::uint8_t>> ready_spirv(int device);
/// How many of them have a native image in the package xpu-cpu-images that this process loads.
XPU_API std::size_t ready_image_count(int device);
/// Returns the native image of SPIR-V that the driver makes in a helper process, to ship for other machines.
XPU_API std::vector<std::uint8_t> build_ready_image(int device, const std::vector<std::uint8_t>& spirv);
/// The key of an image that ships for CPUs whose vector registers have so many bytes.
XPU_API std::vector<std::uint8_t> ready_image_key(int device, const std::vector<std::uint8_t>& spirv,
                                                  int vector_bytes);
/// Starts helper processes early, for threads that are about to build kernels. Does not wait for them.
XPU_API void prestart_build_helpers(int device);
/// Returns the `nd_range` kernel `name` of SPIR-V from another compiler.
XPU_API SharedKernel kernel_from_spirv(int device, const std::vector<std::uint8_t>& spirv,
                                       std::string_view name);

/// Number of work-items in all and in a group, slowest dimension first, as in SYCL.
struct NdRange {
  int dims = 1;
  std::size_t global[3] = {1, 1, 1}, local[3] = {1, 1, 1};
  static NdRange linear(std::size_t groups, std::size_t group) {
    return {1, {groups * group, 1, 1}, {group, 1, 1}};
  }
};

/// Throws UsageError unless the kernel's parameters are of these sizes, as far as its image tells them.
XPU_API void require_parameters(const Kernel& kernel, const ArgumentList& args);

/// Enqueues the kernel; see enqueue(). `bytes` is what it moves, for traces. Throws UsageError for wrong
/// arguments or a stream of another device, and OutOfResources for more work-items in a group or more groups
/// than the device allows. An empty range does nothing.
XPU_API void launch(Stream stream, const Kernel& kernel, const NdRange& range, const ArgumentList& args,
                    std::size_t bytes = 0);

}  // namespace xpu

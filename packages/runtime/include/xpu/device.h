// Devices: Level Zero GPUs, otherwise OpenCL GPUs, and the CPU device if there is no GPU or it is selected.
//
// All functions are thread-safe. The devices are found at the first use of one, which takes a while; the list
// then never changes. An unknown device is a UsageError that names the valid range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "xpu/abi.h"
#include "xpu/sycl_fwd.h"

namespace xpu {

/// Properties and limits of a device, as the driver reports them.
struct DeviceInfo {
  std::string name, vendor, backend, platform, driver_version, version, type, uuid;
  std::uint32_t vendor_id = 0, device_id = 0;
  std::uint64_t architecture = 0;
  std::size_t total_memory = 0, max_allocation = 0, local_memory = 0, cache_size = 0, cache_line = 0;
  std::uint32_t max_compute_units = 0, max_clock_mhz = 0, max_sub_groups = 0, memory_base_align_bits = 0;
  std::uint32_t eu_count = 0, eu_count_per_subslice = 0, eu_simd_width = 0, slices = 0,
                subslices_per_slice = 0, hw_threads_per_eu = 0, memory_clock_mhz = 0, memory_bus_bits = 0;
  std::size_t max_work_group_size = 0, max_work_item_sizes[3] = {0, 0, 0};
  std::size_t max_argument_bytes = 0;  ///< of a kernel
  std::vector<std::uint32_t> sub_group_sizes;
  std::uint32_t sub_group_size = 0;  ///< kernels are built for it: 16 if available, else the largest
  bool fp16 = false, fp64 = false, atomic64 = false, bf16_conversions = false, matrix = false,
       usm_device = false, usm_host = false, usm_shared = false, usm_system = false, graph = false,
       free_memory = false, is_gpu = false, unified_memory = false;
};

/// Number of devices that this process may use; 0 without an error if there is none.
XPU_API int device_count();
/// Valid as long as the process lives.
XPU_API const DeviceInfo& device_info(int device);
/// In bytes. If the driver does not report `free`, it is `total` minus what this process has reserved.
struct MemoryInfo {
  std::size_t free = 0, total = 0;
};
XPU_API MemoryInfo memory_info(int device);
/// True if kernels of `device` can access memory of `peer`.
XPU_API bool can_access_peer(int device, int peer);

/// The calling thread's device; 0 until it is set.
XPU_API int current_device();
XPU_API void set_device(int device);
/// Sets the thread's device without a check: an unknown device is an error at its first use.
XPU_API void set_device_unchecked(int device) noexcept;
/// Sets the thread's device and returns the previous one; -1 changes nothing.
XPU_API int exchange_device(int device);
/// Blocks until the work of every stream of the device has completed. Throws DeviceError or KernelFault for
/// work that failed, and UsageError if a graph captures a stream.
XPU_API void synchronize(int device);

/// Valid as long as the process lives, as is the context.
XPU_API const sycl::device& sycl_device(int device);
/// The context that all devices of the platform share.
XPU_API const sycl::context& sycl_context(int device);
/// The device that `ptr` was allocated on; -1 if it is not device memory of this process.
XPU_API int device_of_pointer(const void* ptr);

/// True if only plain SYCL is used: XPU_GENERIC_BACKEND=1, or neither Level Zero nor OpenCL.
XPU_API bool generic_backend();
/// True if the devices have been found. Does not find them.
XPU_API bool is_initialized();

}  // namespace xpu

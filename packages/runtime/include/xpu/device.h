// Devices: Level Zero GPUs, then OpenCL GPUs, then the CPU device when there is no GPU or it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "xpu/abi.h"
#include "xpu/sycl_fwd.h"

namespace xpu {

/// What a device is and can do; every field is read from the driver, none is assumed.
struct DeviceInfo {
  std::string name, vendor, backend, platform, driver_version, version, type, uuid;
  std::uint32_t vendor_id = 0, device_id = 0;
  std::uint64_t architecture = 0;
  std::size_t total_memory = 0, max_allocation = 0, local_memory = 0, cache_size = 0, cache_line = 0;
  std::uint32_t max_compute_units = 0, max_clock_mhz = 0, max_sub_groups = 0, memory_base_align_bits = 0;
  std::uint32_t eu_count = 0, eu_count_per_subslice = 0, eu_simd_width = 0, slices = 0,
                subslices_per_slice = 0, hw_threads_per_eu = 0, memory_clock_mhz = 0, memory_bus_bits = 0;
  std::size_t max_work_group_size = 0, max_work_item_sizes[3] = {0, 0, 0};
  std::vector<std::uint32_t> sub_group_sizes;
  std::uint32_t sub_group_size = 0;  ///< the one kernels are built for: 16 where offered, else the largest
  bool fp16 = false, fp64 = false, atomic64 = false, bf16_conversions = false, matrix = false,
       usm_device = false, usm_host = false, usm_shared = false, usm_system = false, graph = false,
       free_memory = false, is_gpu = false, unified_memory = false;
};

/// How many devices this process may use. Never throws for "none": that is 0.
XPU_API int device_count();
/// Throws UsageError naming the valid range when `device` is not in it.
XPU_API const DeviceInfo& device_info(int device);
/// Bytes free on the device and in all; free is total less what this process reserved where the driver cannot
/// say.
struct MemoryInfo {
  std::size_t free = 0, total = 0;
};
XPU_API MemoryInfo memory_info(int device);
/// True when kernels of `device` can use memory of `peer`.
XPU_API bool can_access_peer(int device, int peer);

/// The calling thread's device; 0 until it is set.
XPU_API int current_device();
XPU_API void set_device(int device);
/// The same where no error can be told: whether there is such a device shows in its first use.
XPU_API void set_device_unchecked(int device) noexcept;
/// Sets the thread's device and returns the one before; -1 changes nothing.
XPU_API int exchange_device(int device);
/// Waits for all work on every stream of the device; errors of that work are thrown here.
XPU_API void synchronize(int device);

XPU_API const sycl::device& sycl_device(int device);
/// The one context that every device of the platform shares.
XPU_API const sycl::context& sycl_context(int device);
/// The device whose memory `ptr` is, or -1 when it is not device memory of this process.
XPU_API int device_of_pointer(const void* ptr);

/// True when the runtime must not use anything beyond plain SYCL (XPU_GENERIC_BACKEND=1, or another vendor's
/// backend).
XPU_API bool generic_backend();
/// True once the device stack has been touched in this process.
XPU_API bool is_initialized();

}  // namespace xpu

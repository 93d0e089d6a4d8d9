#include <cstdio>

#include "devices/device_table.h"
#include "process/env.h"

namespace xpu {
namespace {

namespace info = sycl::info::device;
namespace intel = sycl::ext::intel::info::device;

// A driver may report an aspect and still fail the query; the field then stays 0.
template <class Query, class Field>
void read(const sycl::device& device, sycl::aspect needs, Field& field) {
  if (!device.has(needs)) return;
  try {
    field = static_cast<Field>(device.get_info<Query>());
  } catch (const sycl::exception&) {
    field = Field{};
  }
}

const char* backend_name(sycl::backend backend) {
  switch (backend) {
    case sycl::backend::ext_oneapi_level_zero:
      return "level_zero";
    case sycl::backend::opencl:
      return "opencl";
    case sycl::backend::ext_oneapi_cuda:
      return "cuda";
    case sycl::backend::ext_oneapi_hip:
      return "hip";
    default:
      return "other";
  }
}

std::string uuid_of(const sycl::device& device) {
  if (!device.has(sycl::aspect::ext_intel_device_info_uuid)) return "";
  std::string text;
  for (unsigned char byte : device.get_info<intel::uuid>()) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", byte);
    text += hex;
  }
  return text;
}

// Kernels are built for one sub-group size: 16 if the device has it, else its largest.
std::uint32_t choose_sub_group_size(const std::vector<std::uint32_t>& offered) {
  std::uint32_t preferred = env::flag("XPU_GENERIC_BACKEND") ? 32 : 16, largest = 0;
  for (auto size : offered) {
    if (size == preferred) return size;
    largest = std::max(largest, size);
  }
  return largest;
}

bool has_matrix(const sycl::device& device) {
  return device.has(sycl::aspect::ext_intel_matrix) &&
         !device.get_info<sycl::ext::oneapi::experimental::info::device::matrix_combinations>().empty();
}

}  // namespace

DeviceInfo read_device_info(const sycl::device& d) {
  using sycl::aspect;
  DeviceInfo r;
  r.name = d.get_info<info::name>();
  r.vendor = d.get_info<info::vendor>();
  r.backend = backend_name(d.get_backend());
  r.platform = d.get_platform().get_info<sycl::info::platform::name>();
  r.driver_version = d.get_info<info::driver_version>();
  r.version = d.get_info<info::version>();
  r.type = d.is_gpu() ? "gpu" : d.is_cpu() ? "cpu" : "accelerator";
  r.uuid = uuid_of(d);
  r.vendor_id = d.get_info<info::vendor_id>();
  read<intel::device_id>(d, aspect::ext_intel_device_id, r.device_id);
  r.total_memory = d.get_info<info::global_mem_size>();
  r.max_allocation = d.get_info<info::max_mem_alloc_size>();
  r.local_memory = d.get_info<info::local_mem_size>();
  r.cache_size = d.get_info<info::global_mem_cache_size>();
  r.cache_line = d.get_info<info::global_mem_cache_line_size>();
  r.max_compute_units = d.get_info<info::max_compute_units>();
  r.max_clock_mhz = d.get_info<info::max_clock_frequency>();
  r.max_sub_groups = d.get_info<info::max_num_sub_groups>();
  r.memory_base_align_bits = d.get_info<info::mem_base_addr_align>();
  read<intel::gpu_eu_count>(d, aspect::ext_intel_gpu_eu_count, r.eu_count);
  read<intel::gpu_eu_count_per_subslice>(d, aspect::ext_intel_gpu_eu_count_per_subslice,
                                         r.eu_count_per_subslice);
  read<intel::gpu_eu_simd_width>(d, aspect::ext_intel_gpu_eu_simd_width, r.eu_simd_width);
  read<intel::gpu_slices>(d, aspect::ext_intel_gpu_slices, r.slices);
  read<intel::gpu_subslices_per_slice>(d, aspect::ext_intel_gpu_subslices_per_slice, r.subslices_per_slice);
  read<intel::gpu_hw_threads_per_eu>(d, aspect::ext_intel_gpu_hw_threads_per_eu, r.hw_threads_per_eu);
  read<intel::memory_clock_rate>(d, aspect::ext_intel_memory_clock_rate, r.memory_clock_mhz);
  read<intel::memory_bus_width>(d, aspect::ext_intel_memory_bus_width, r.memory_bus_bits);
  r.max_work_group_size = d.get_info<info::max_work_group_size>();
  r.max_argument_bytes = d.get_info<info::max_parameter_size>();
  auto sizes = d.get_info<info::max_work_item_sizes<3>>();
  for (int i = 0; i < 3; ++i) r.max_work_item_sizes[i] = sizes[i];
  for (auto size : d.get_info<info::sub_group_sizes>()) r.sub_group_sizes.push_back(size);
  r.sub_group_size = choose_sub_group_size(r.sub_group_sizes);
  r.fp16 = d.has(aspect::fp16);
  r.fp64 = d.has(aspect::fp64);
  r.atomic64 = d.has(aspect::atomic64);
  r.usm_device = d.has(aspect::usm_device_allocations);
  r.usm_host = d.has(aspect::usm_host_allocations);
  r.usm_shared = d.has(aspect::usm_shared_allocations);
  r.usm_system = d.has(aspect::usm_system_allocations);
  r.graph = d.has(aspect::ext_oneapi_limited_graph) || d.has(aspect::ext_oneapi_graph);
  r.free_memory = d.has(aspect::ext_intel_free_memory);
  r.matrix = has_matrix(d);
  r.bf16_conversions = r.matrix || d.is_cpu();
  r.is_gpu = d.is_gpu();
  r.unified_memory = d.is_cpu() || d.has(aspect::usm_system_allocations);
  return r;
}

}  // namespace xpu

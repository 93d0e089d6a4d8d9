#include "device/statistics.h"

namespace torch_xpu {
namespace {

c10::CachingAllocator::Stat stat(const xpu::memory::Stat& s) {
  c10::CachingAllocator::Stat out;
  out.current = s.current;
  out.peak = s.peak;
  out.allocated = s.allocated;
  out.freed = s.freed;
  return out;
}

// PyTorch's order of pools is the runtime's: all, small, large.
void fill(c10::CachingAllocator::StatArray& to, const xpu::memory::Stat (&from)[3]) {
  for (std::size_t pool = 0; pool < 3; ++pool) to[pool] = stat(from[pool]);
}

}  // namespace

c10::CachingDeviceAllocator::DeviceStats as_torch(const xpu::memory::Stats& s) {
  c10::CachingDeviceAllocator::DeviceStats out;
  fill(out.allocation, s.allocation);
  fill(out.segment, s.segment);
  fill(out.active, s.active);
  fill(out.inactive_split, s.inactive_split);
  fill(out.allocated_bytes, s.allocated_bytes);
  fill(out.reserved_bytes, s.reserved_bytes);
  fill(out.active_bytes, s.active_bytes);
  fill(out.inactive_split_bytes, s.inactive_split_bytes);
  fill(out.requested_bytes, s.requested_bytes);
  out.num_alloc_retries = s.num_alloc_retries;
  out.num_ooms = s.num_ooms;
  out.num_device_alloc = s.num_device_alloc;
  out.num_device_free = s.num_device_free;
  return out;
}

HostStats as_torch(const xpu::host_memory::Stats& s) {
  return {stat(s.allocations), stat(s.allocated_bytes), stat(s.active_bytes), s.num_host_alloc,
          s.num_host_free};
}

}  // namespace torch_xpu

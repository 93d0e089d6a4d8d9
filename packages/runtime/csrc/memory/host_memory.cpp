// The pool of pinned host memory: a caching resource over HostSource. Its blocks belong to no stream.
#include "xpu/host_memory.h"

#include <sycl/sycl.hpp>

#include "memory/caching.h"
#include "memory/usm_source.h"
#include "process/immortal.h"
#include "process/startup.h"
#include "xpu/device.h"

namespace xpu::host_memory {
namespace {

struct HostPool {
  memory::AddressIndex index;
  memory::HostSource source;
  memory::CachingResource caching{source, index, {}};
};
HostPool& pool() {
  static auto& one = immortal<HostPool>();
  return one;
}

}  // namespace

void* allocate(std::size_t bytes) {
  startup::require_thread_allowed();
  return bytes == 0 ? nullptr : pool().caching.allocate(bytes, {}, 0);
}

void deallocate(void* ptr) noexcept {
  if (!ptr || startup::is_forked_or_shut_down()) return;
  pool().caching.deallocate(ptr, pool().caching.size_of(ptr), {});
}

void record_stream(void* ptr, Stream stream) {
  pool().caching.record_stream(ptr, stream);
}

bool is_pinned(const void* ptr) {
  if (!ptr || !startup::is_initialized()) return false;
  if (pool().index.with_segment(ptr, [](memory::Segment&) {})) return true;
  for (int device = 0; device < device_count(); ++device)
    if (sycl::get_pointer_type(ptr, sycl_context(device)) == sycl::usm::alloc::host) return true;
  return false;
}

std::size_t empty_cache() {
  return pool().caching.release_unused();
}

Stats stats() {
  auto all = pool().caching.stats();
  return {all.allocation[0],   all.allocated_bytes[0], all.reserved_bytes[0],
          all.active_bytes[0], all.num_device_alloc,   all.num_device_free};
}

void reset_peak_stats() {
  pool().caching.reset_peak();
}

void reset_accumulated_stats() {
  pool().caching.reset_accumulated();
}

}  // namespace xpu::host_memory

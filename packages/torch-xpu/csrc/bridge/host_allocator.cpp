#include <ATen/core/CachingHostAllocator.h>

#include "bridge/allocators.h"
#include "bridge/runtime.h"

namespace torch_xpu {
namespace {

void free_host_block(void* ptr) {
  if (ptr) runtime_if_loaded()->deallocate_host(ptr);
}

struct HostAllocator final : at::HostAllocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    void* ptr = bytes ? runtime().allocate_host(bytes) : nullptr;
    return {ptr, ptr, &free_host_block, c10::DeviceType::CPU};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_host_block; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  // The context is ours when the block is: the address itself.
  bool record_event(void* ptr, void* context, c10::Stream stream) override {
    void* block = context ? context : ptr;
    if (!runtime().is_pinned(block)) return false;
    runtime().record_host(block, stream.device_index(), stream.id());
    return true;
  }
  void empty_cache() override {
    if (auto* found = runtime_if_loaded()) found->empty_host_cache();
  }
  at::HostStats get_stats() override {
    at::HostStats out;
    auto* found = runtime_if_loaded();
    if (!found) return out;
    auto ours = found->host_stats();
    out.allocations = ours.allocations;
    out.active_requests = ours.allocations;
    out.allocated_bytes = ours.allocated_bytes;
    out.active_bytes = ours.active_bytes;
    out.num_host_alloc = ours.num_host_alloc;
    out.num_host_free = ours.num_host_free;
    return out;
  }
  void reset_accumulated_stats() override {
    if (auto* found = runtime_if_loaded()) found->reset_host_accumulated_stats();
  }
  void reset_peak_stats() override {
    if (auto* found = runtime_if_loaded()) found->reset_host_peak_stats();
  }
};

HostAllocator* host() {
  static auto* one = new HostAllocator;
  return one;
}

}  // namespace

c10::Allocator* host_allocator() {
  return host();
}

namespace {

// PyTorch takes both when this library is loaded.
[[maybe_unused]] const bool are_allocators_registered = [] {
  c10::SetAllocator(c10::DeviceType::XPU, device_allocator());
  at::setHostAllocator(c10::DeviceType::XPU, host());
  return true;
}();

}  // namespace

}  // namespace torch_xpu

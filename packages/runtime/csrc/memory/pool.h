// The device pool: the stack of resources behind xpu/memory.h.
//
//   failing -> logging -> notifying -> caching -> limiting -> statistics -> source
// The first three are skipped while there is no log, observer, trace or failure to inject.
#pragma once

#include <atomic>
#include <memory>

#include "memory/caching.h"
#include "memory/failing.h"
#include "memory/limiting.h"
#include "memory/logging.h"
#include "memory/notifying.h"
#include "memory/statistics.h"
#include "xpu/memory.h"
#include "xpu/trace.h"

namespace xpu::memory {

/// State that the pools of all devices share. Never destroyed: work may outlive static destructors.
struct SharedState {
  AddressIndex index;
  AllocationLog allocation_log;
  FailureCounter failures;
  std::atomic<Observer> observer{nullptr};
  std::atomic<bool> watched{false};  ///< one of the three above is in use

  bool is_watched() const { return watched.load(std::memory_order_relaxed) || trace::active(); }
  void update_watched() {
    watched = allocation_log.is_open() || failures.running() || observer.load() != nullptr;
  }
};
SharedState& shared();

class DevicePool {
 public:
  DevicePool(int device, SharedState& shared);

  /// The resource that serves users' allocations and frees.
  Resource& top() {
    if (shared_.is_watched()) [[unlikely]]
      return failing_;
    return caching_;
  }
  CachingResource& caching() { return caching_; }
  LimitingResource& limiting() { return limiting_; }

 private:
  std::string explain(std::size_t bytes, Stream stream, Owner owner, const std::string& reason);

  SharedState& shared_;
  std::unique_ptr<Resource> source_;
  StatisticsResource statistics_;
  LimitingResource limiting_;
  CachingResource caching_;
  NotifyingResource notifying_;
  LoggingResource logging_;
  FailingResource failing_;
};

/// Throws UsageError for an unknown device.
DevicePool& device_pool(int device);
/// Returns null if the device's memory was never used. Does not throw.
DevicePool* existing_pool(int device);

}  // namespace xpu::memory

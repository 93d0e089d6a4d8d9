// From integers to kernels: what a kernel family looks its built kernels up in on every call.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "xpu/error.h"
#include "xpu/launch.h"

namespace xpu::kernels {

struct KernelKey {
  std::uint64_t high = 0, low = 0;
  bool operator==(const KernelKey&) const = default;
};

/// Fields of a key one after another. What does not fit its bits, or the key, would make two kernels one.
class KeyBits {
 public:
  KeyBits& add(int bits, std::uint64_t value) {
    lost_ |= value >> bits;
    all_ = all_ << bits | value;
    used_ += bits;
    return *this;
  }
  KernelKey key() const {
    expect<InternalError>(lost_ == 0 && used_ <= 128, "a kernel's key of ", used_,
                          " bits does not hold its fields");
    return {static_cast<std::uint64_t>(all_ >> 64), static_cast<std::uint64_t>(all_)};
  }

 private:
  unsigned __int128 all_ = 0;
  std::uint64_t lost_ = 0;
  int used_ = 0;
};

/// Lookups take no lock; entries are added once and, like the kernels, live as long as the table.
class KernelTable {
 public:
  KernelTable() = default;
  ~KernelTable() {
    for (auto& bucket : buckets_)
      for (Entry* entry = bucket.load(); entry;) delete std::exchange(entry, entry->next);
  }
  KernelTable(const KernelTable&) = delete;
  KernelTable& operator=(const KernelTable&) = delete;

  /// The kernel of the key; the first time it is what `make()` gives, a shared one.
  template <class Make>
  Kernel find_or_make(const KernelKey& key, Make make) {
    auto& bucket = buckets_[slot(key)];
    if (Entry* entry = find(bucket.load(std::memory_order_acquire), key)) return Kernel(entry->kernel.get());
    // Not under the lock: building may take a while, and one source is built once.
    SharedKernel kernel = make();
    std::lock_guard lock(mutex_);
    Entry* head = bucket.load(std::memory_order_relaxed);
    if (Entry* entry = find(head, key)) return Kernel(entry->kernel.get());
    bucket.store(new Entry{key, kernel, head}, std::memory_order_release);
    return Kernel(kernel.get());
  }

 private:
  struct Entry {
    KernelKey key;
    SharedKernel kernel;
    Entry* next;
  };
  static std::size_t slot(const KernelKey& key) {
    std::uint64_t mixed = (key.high * 0x9e3779b97f4a7c15u) ^ (key.low * 0xc2b2ae3d27d4eb4fu);
    return mixed >> 59;
  }
  static Entry* find(Entry* entry, const KernelKey& key) {
    while (entry && !(entry->key == key)) entry = entry->next;
    return entry;
  }

  std::array<std::atomic<Entry*>, 32> buckets_{};
  std::mutex mutex_;
};

}  // namespace xpu::kernels

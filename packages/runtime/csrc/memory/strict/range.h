// The address range of strict memory: the allocation of each page, and whether the host may access it.
//
// Layout of an allocation: [slack][bytes][fill to 64][guard page]. Slack and fill hold a canary. Guards and
// freed pages are mapped from an empty file, so that touching them is SIGBUS even when they are open:
// neighbors are then opened and closed together, guards and all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "xpu/memory_resource.h"

namespace xpu::strict {

struct Allocation {
  std::uintptr_t begin, ptr, guard,
      end;  ///< first page, first byte given out, guard page, first byte after it
  std::size_t bytes;
  std::int64_t stream;
  int device;
  const char* owner;
  std::atomic<bool> freed;
  std::uint8_t frames;
  void* stack[8];  ///< of the host when it was allocated
};

/// The allocation that an address belongs to, for the fault handler's message.
struct Access {
  const Allocation* allocation;  ///< null when nothing was ever allocated there
  std::uint64_t serial;
  std::int64_t offset;  ///< from the allocation's first byte
};

class Range {
 public:
  /// The one range of the process. Throws OutOfMemory when the address space is limited (ulimit -v).
  static Range& get();
  /// Null before the first allocation; async-signal-safe.
  static Range* existing();

  void* allocate(std::size_t bytes, int device, std::int64_t stream, memory::Owner owner);
  /// Ends the process with a message if the canary around the bytes was overwritten.
  void deallocate(void* ptr) noexcept;
  /// Opens all live allocations to the process until close(). Calls nest. Throws OutOfMemory if it cannot.
  void open();
  void close() noexcept;

  /// Async-signal-safe.
  bool contains(std::uintptr_t address) const { return address >= base_ && address < base_ + span_; }
  bool is_open() const { return access_count_.load(std::memory_order_relaxed) > 0; }
  Access access_at(std::uintptr_t address) const;

 private:
  Range();
  void protect(std::uintptr_t begin, std::size_t bytes, int protection);  ///< throws OutOfMemory
  // Returns false if mprotect fails; errno says why.
  bool try_protect(std::uintptr_t begin, std::size_t bytes, int protection) noexcept;
  bool try_protect_live(int protection) noexcept;
  void* map_empty(std::uintptr_t begin, std::uintptr_t end);
  std::uint64_t find_serial(std::uintptr_t address) const;

  std::mutex mutex_;
  std::uintptr_t base_ = 0, top_ = 0;
  std::size_t span_ = 0, page_ = 0;
  int empty_file_ = -1;
  std::atomic<int> access_count_{0};
  Allocation* all_ = nullptr;  // in the order of their addresses, never removed
  std::atomic<std::uint64_t> count_{0};
  std::vector<std::uint64_t> live_;  // serials in order
};

}  // namespace xpu::strict

// Device memory: one pool per device that every framework of the process shares.
//
// The pool is a stack of resources (xpu/memory_resource.h); these functions are its front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "xpu/abi.h"
#include "xpu/memory_resource.h"
#include "xpu/stream.h"

namespace xpu::memory {

/// The number for a name, the same one each time; at most 255 names.
XPU_API Owner owner(std::string_view name);
XPU_API std::string owner_name(Owner owner);

/// Memory usable by work queued on `stream` from now on. Zero bytes give null. Throws OutOfMemory.
XPU_API void* allocate(std::size_t bytes, Stream stream, Owner owner = 0);
/// Gives it back to the pool: reused at once by the stream it was allocated on, or, when other streams were
/// recorded, after they have passed. Null is fine; a pointer the pool does not know is logged and left alone:
/// frees do not throw.
XPU_API void deallocate(void* ptr) noexcept;
/// Says that work on `stream` uses the block, so that it is not reused before that work has ended. `ptr` may
/// point anywhere into it; one the pool does not know is ignored, as memory of others needs no such care
/// here.
XPU_API void record_stream(void* ptr, Stream stream);

struct BlockInfo {
  void* base = nullptr;
  std::size_t size = 0, requested = 0;
  int device = -1;
  Stream stream;
  Owner owner = 0;
};
/// The block that contains `ptr`; base is null when the pool has none.
XPU_API BlockInfo find(const void* ptr);

/// A counter with its history: `allocated - freed == current`.
struct Stat {
  std::int64_t current = 0, peak = 0, allocated = 0, freed = 0;

  void increase(std::int64_t by) {
    current += by;
    allocated += by;
    if (current > peak) peak = current;
  }
  void decrease(std::int64_t by) {
    current -= by;
    freed += by;
  }
};
enum StatKind { all = 0, small_pool = 1, large_pool = 2 };
/// PyTorch's statistics, key by key.
struct Stats {
  Stat allocation[3], segment[3], active[3], inactive_split[3];
  Stat allocated_bytes[3], reserved_bytes[3], active_bytes[3], inactive_split_bytes[3], requested_bytes[3];
  std::int64_t num_alloc_retries = 0, num_ooms = 0, num_device_alloc = 0, num_device_free = 0;
  struct ByOwner {
    std::string name;
    Stat allocated_bytes;
  };
  std::vector<ByOwner> owners;
};
XPU_API Stats stats(int device);
XPU_API void reset_peak_stats(int device);
XPU_API void reset_accumulated_stats(int device);

/// Gives unused segments back to the device, after waiting for the work that used them; returns the bytes
/// given back.
XPU_API std::size_t empty_cache(int device);
/// The most the pool may reserve; returns the limit before. 0 means no limit of ours. What is already
/// reserved stays.
XPU_API std::size_t set_limit(int device, std::size_t bytes);
XPU_API std::size_t limit(int device);

struct SnapshotBlock {
  std::uintptr_t address = 0;
  std::size_t size = 0, requested = 0;
  std::string state, owner;  ///< state: "active_allocated", "active_pending_free", "inactive"
};
struct SnapshotSegment {
  int device = 0;
  std::uintptr_t address = 0;
  std::size_t total_size = 0, allocated_size = 0, active_size = 0, requested_size = 0;
  std::int64_t stream = 0;
  std::string type;        ///< "small" or "large"
  std::uint64_t pool = 0;  ///< 0: the common pool; otherwise a private pool
  std::vector<SnapshotBlock> blocks;
};
/// All segments of all devices with who holds what.
XPU_API std::vector<SnapshotSegment> snapshot();

/// Private pools, for graphs: while one is open on a thread, its allocations on that device come from the
/// pool, whose memory goes to nobody else, and not back to the device, until every use of the pool is
/// released.
using PoolId = std::uint64_t;
XPU_API PoolId create_pool();
/// Opens the pool on the calling thread; counts as a use of it. Opened pools nest: the innermost one serves.
XPU_API void open_pool(int device, PoolId pool);
/// Ends what open_pool began; the pool keeps its memory.
XPU_API void close_pool(int device, PoolId pool);
/// The same for what any thread allocates on `stream`: a recording's backward pass runs in a thread of its
/// own. One pool at a time.
XPU_API void open_pool(Stream stream, PoolId pool);
XPU_API void close_pool(Stream stream, PoolId pool);
/// One use more, without opening it.
XPU_API void retain_pool(int device, PoolId pool);
/// One use less. With the last one the memory joins the common pool of the streams it was allocated on, which
/// must by then be ordered after all work that uses it; or, `give_back`, what is unused goes back to the
/// device.
XPU_API void release_pool(int device, PoolId pool, bool give_back = false);

/// Writes one CSV line for each allocate and free ("" stops).
XPU_API void set_log(const std::string& path);
/// The k-th allocation from now on fails with OutOfMemory, for tests; 0 turns it off.
XPU_API void fail_allocation(std::uint64_t k);

/// Called on each allocate and free of any pool: for framework profilers. Null removes it.
using Observer = void (*)(void* ptr, std::int64_t bytes, int device, std::int64_t total_allocated,
                          std::int64_t total_reserved);
XPU_API void set_observer(Observer observer);

}  // namespace xpu::memory

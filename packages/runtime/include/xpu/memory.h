// Device memory: one pool per device that all frameworks of the process share.
//
// The pool is a stack of resources (xpu/memory_resource.h). All functions are thread-safe; those that take an
// unknown device throw UsageError.
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

/// The number of a name, the same at each call. Throws UsageError for more than 255 names.
XPU_API Owner owner(std::string_view name);
XPU_API std::string owner_name(Owner owner);

/// Memory usable by work enqueued on `stream` from now on. Zero bytes give null. Blocks only if memory runs
/// out and cached blocks must be given back. Throws OutOfMemory.
XPU_API void* allocate(std::size_t bytes, Stream stream, Owner owner = 0);
/// Returns the block to the pool. Its own stream may reuse it at once; otherwise reuse waits for every stream
/// passed to record_stream(). Null is ignored; a pointer that is not of the pool is logged and ignored.
XPU_API void deallocate(void* ptr) noexcept;
/// Says that work on `stream` uses the block, which is then reused only once that work has completed. `ptr`
/// may point anywhere into it; a pointer that is not of the pool is ignored.
XPU_API void record_stream(void* ptr, Stream stream);

struct BlockInfo {
  void* base = nullptr;
  std::size_t size = 0, requested = 0;
  int device = -1;
  Stream stream;
  Owner owner = 0;
};
/// The block that contains `ptr`; `base` is null if there is none.
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

/// Gives unused segments back to the device, after blocking for the work that used them; returns their bytes.
XPU_API std::size_t empty_cache(int device);
/// Sets how much the pool may reserve and returns the previous limit; 0: no limit. Memory that is reserved
/// already stays.
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
/// All segments of all devices, with the owner of each block.
XPU_API std::vector<SnapshotSegment> snapshot();

/// Private pool, for graphs: while it is open on a thread, the thread's allocations on the device come from
/// it. Its memory serves nothing else and is not given back to the device until every use of the pool is
/// released.
using PoolId = std::uint64_t;
/// Without `splits`, a cached segment serves one allocation at a time, whatever its size.
XPU_API PoolId create_pool(bool splits = true);
/// Opens the pool on the calling thread; counts as a use of it. Open pools nest: the innermost one serves.
XPU_API void open_pool(int device, PoolId pool);
/// Closes the pool on the calling thread; it keeps its memory.
XPU_API void close_pool(int device, PoolId pool);
/// Opens the pool for allocations of any thread on `stream`: a captured backward pass runs in a thread of its
/// own. A stream has at most one open pool.
XPU_API void open_pool(Stream stream, PoolId pool);
XPU_API void close_pool(Stream stream, PoolId pool);
/// Adds a use without opening the pool.
XPU_API void retain_pool(int device, PoolId pool);
/// Removes a use. With the last one the memory joins the common pool of the streams it was allocated on,
/// which must then be ordered after all work that uses it; with `give_back`, unused memory goes back to the
/// device instead.
XPU_API void release_pool(int device, PoolId pool, bool give_back = false);

/// Writes one CSV line for each allocate and free ("" stops).
XPU_API void set_log(const std::string& path);
/// The k-th allocation from now on fails with OutOfMemory, for tests; 0 turns it off.
XPU_API void fail_allocation(std::uint64_t k);

/// Called at each allocation and free of any pool, for profilers, on the thread that does it. Null removes
/// it.
using Observer = void (*)(void* ptr, std::int64_t bytes, int device, std::int64_t total_allocated,
                          std::int64_t total_reserved);
XPU_API void set_observer(Observer observer);

}  // namespace xpu::memory

#include "bridge/custom_allocator.h"

#include <c10/util/Exception.h>

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "bridge/runtime.h"

namespace torch_xpu {
namespace {

struct Block {
  CustomAllocator of;
  std::size_t bytes;
  int device;
  void* queue;
};
struct Blocks {
  std::mutex mutex;
  std::unordered_map<void*, Block> all;
};
// Never destroyed: storages that live until the process ends come back to it.
Blocks& blocks() {
  static auto* one = new Blocks;
  return *one;
}

struct Use {
  CustomAllocator allocator;
  int device;
};
thread_local std::vector<Use> uses;

CustomAllocator of_process;
// Most processes have no such functions: they pay one read for it. Memory was asked for; functions were
// named.
std::atomic<bool> asked{false}, named{false};

CustomAllocator serving(int device) {
  for (auto use = uses.rbegin(); use != uses.rend(); ++use)
    if (use->device == device) return use->allocator;
  return of_process;
}

}  // namespace

void change_allocator(CustomAllocator to) {
  TORCH_CHECK(!asked,
              "the allocator cannot be changed: xpu memory was already allocated from the one before. "
              "Change it before the first tensor on xpu is made.");
  of_process = to;
  named = true;
}

void use_allocator(CustomAllocator from_now_on, int device) {
  uses.push_back({from_now_on, device});
  named = true;
}

void leave_allocator() {
  uses.pop_back();
}

bool allocate_custom(void** ptr, std::size_t bytes, int device) {
  if (!asked.load(std::memory_order_relaxed)) asked = true;
  if (!named.load(std::memory_order_relaxed)) [[likely]]
    return false;
  auto from = serving(device);
  if (!from.allocate) return false;
  void* queue = runtime().stream_queue(device, runtime().current_stream(device));
  *ptr = from.allocate(bytes, device, queue);
  TORCH_CHECK_WITH(OutOfMemoryError, *ptr, "XPU out of memory. Tried to allocate ", bytes,
                   " bytes from the pluggable allocator on xpu:", device);
  std::lock_guard lock(blocks().mutex);
  blocks().all[*ptr] = {from, bytes, device, queue};
  return true;
}

bool free_custom(void* ptr) noexcept {
  if (!named.load(std::memory_order_relaxed)) [[likely]]
    return false;
  Block block;
  {
    std::lock_guard lock(blocks().mutex);
    auto found = blocks().all.find(ptr);
    if (found == blocks().all.end()) return false;
    block = found->second;
    blocks().all.erase(found);
  }
  block.of.free(ptr, block.bytes, block.device, block.queue);
  return true;
}

}  // namespace torch_xpu

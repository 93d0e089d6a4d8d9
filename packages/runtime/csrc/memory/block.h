// The caching resource's records of memory: segments from upstream, each divided into blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/bins.h"
#include "xpu/memory.h"

namespace xpu::memory {

class CachingResource;
struct Segment;

enum class BlockState : std::uint8_t { free, allocated, pending };

struct Block {
  char* ptr = nullptr;
  std::size_t size = 0, requested = 0;
  Segment* segment = nullptr;
  Block *prev = nullptr, *next = nullptr;          ///< neighbors in the segment
  Block *bin_prev = nullptr, *bin_next = nullptr;  ///< neighbors in a bin, while free
  BlockState state = BlockState::free;
  Owner owner = 0;
  std::uint32_t pending_uses = 0;  ///< events that have not completed, while pending
  std::vector<Stream> uses = {};   ///< recorded streams other than the segment's own

  bool is_split() const { return prev || next; }
};

/// The free blocks for one stream, of the common pool or of a private one.
// Set in the numbers of pools whose segments are not split.
constexpr PoolId unsplit_pool = PoolId{1} << 63;

struct Arena {
  Stream stream;
  PoolId pool = 0;
  Bins small, large;
};

struct Segment {
  char* base = nullptr;
  std::size_t size = 0;
  bool small = false;
  Stream stream = {};  ///< never changes, so frees may read it without the pool's lock
  Arena* arena = nullptr;
  CachingResource* resource = nullptr;
  Block* first = nullptr;
  Segment *prev = nullptr, *next = nullptr;

  Bins& bins() const { return small ? arena->small : arena->large; }
  bool is_unused() const { return first->state == BlockState::free && !first->next; }
};

}  // namespace xpu::memory

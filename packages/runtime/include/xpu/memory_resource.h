// Memory resources: allocate and deallocate on a stream. Adaptors wrap one and add caching, limits, logs, ...
#pragma once

#include <cstddef>
#include <cstdint>

#include "xpu/abi.h"
#include "xpu/stream.h"

namespace xpu::memory {

/// Owner of a block ("torch", "jax", ...), for statistics and out-of-memory messages; 0: "xpu" itself.
using Owner = std::uint8_t;

/// Source of memory. Thread-safe.
class Resource {
 public:
  virtual ~Resource() = default;
  /// Returns memory usable by work enqueued on `stream` from now on. `bytes` is not zero. Throws OutOfMemory.
  virtual void* allocate(std::size_t bytes, Stream stream, Owner owner) = 0;
  /// Takes back memory of this resource. Work pending on `stream` may still use it.
  virtual void deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept = 0;
  /// Gives unused memory back to the device, after blocking for the work that used it; returns its bytes.
  virtual std::size_t release_unused() { return 0; }
};

}  // namespace xpu::memory

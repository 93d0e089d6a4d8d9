// A resource has allocate and deallocate on a stream; everything else is an adaptor around one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "xpu/abi.h"
#include "xpu/stream.h"

namespace xpu::memory {

/// Who holds a block ("torch", "jax", ...), for statistics and out-of-memory messages. 0 is "xpu" itself.
using Owner = std::uint8_t;

/// Where memory comes from. All members may be called from any thread.
class Resource {
 public:
  virtual ~Resource() = default;
  /// Usable by work queued on `stream` afterwards. `bytes` is not zero. Throws OutOfMemory.
  virtual void* allocate(std::size_t bytes, Stream stream, Owner owner) = 0;
  /// `ptr` and `bytes` as given out by this resource; work queued on `stream` before may still use it.
  virtual void deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept = 0;
  /// Gives back to the device what this resource holds unused, after the work that used it; returns the
  /// bytes.
  virtual std::size_t release_unused() { return 0; }
};

}  // namespace xpu::memory

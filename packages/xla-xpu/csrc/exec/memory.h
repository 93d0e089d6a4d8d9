// Device memory that the pool accounts to JAX.
#pragma once

#include <cstddef>

#include "xpu/memory.h"

namespace xla_xpu {

xpu::memory::Owner jax_owner();

/// Scratch memory for work enqueued during its lifetime. The destructor does not block: only later work on
/// the stream reuses the memory.
class ScratchBuffer {
 public:
  ScratchBuffer(std::size_t bytes, xpu::Stream stream)
      : data_(xpu::memory::allocate(bytes, stream, jax_owner())) {}
  ~ScratchBuffer() { xpu::memory::deallocate(data_); }
  ScratchBuffer(const ScratchBuffer&) = delete;
  ScratchBuffer& operator=(const ScratchBuffer&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_;
};

}  // namespace xla_xpu

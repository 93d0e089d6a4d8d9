// Device memory in JAX's name.
#pragma once

#include <cstddef>

#include "xpu/memory.h"

namespace xla_xpu {

xpu::memory::Owner jax_owner();

/// Memory for work that is queued while this lives; the pool keeps it until that work has passed.
class Temporary {
 public:
  Temporary(std::size_t bytes, xpu::Stream stream)
      : data_(xpu::memory::allocate(bytes, stream, jax_owner())) {}
  ~Temporary() { xpu::memory::deallocate(data_); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_;
};

}  // namespace xla_xpu

// PyTorch's blocks in the pool that every framework shares.
#pragma once

#include <cstddef>
#include <cstdint>

#include "xpu/stream.h"

namespace torch_xpu {

void* allocate_block(std::size_t bytes, xpu::Stream stream);
void deallocate_block(void* ptr) noexcept;

/// A private pool whose unused memory may serve anybody when there is no other, or no longer may.
void spare_pool(std::uint64_t pool, bool may_serve);

}  // namespace torch_xpu

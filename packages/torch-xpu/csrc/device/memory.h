// PyTorch's blocks in the pool that every framework shares.
#pragma once

#include <cstddef>

#include "xpu/stream.h"

namespace torch_xpu {

void* allocate_block(std::size_t bytes, xpu::Stream stream);
void deallocate_block(void* ptr) noexcept;

}  // namespace torch_xpu

// Device memory that a call needs only while its kernels run.
#pragma once

#include <cstdint>
#include <utility>

#include "xpu/memory.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// May be destroyed as soon as the kernels are enqueued: the destructor does not block, and the pool gives
/// the memory only to later work on the same stream.
class ScratchBuffer {
 public:
  ScratchBuffer() = default;
  ScratchBuffer(Stream stream, std::size_t bytes) : data_(memory::allocate(bytes, stream)) {}
  ~ScratchBuffer() { memory::deallocate(data_); }
  ScratchBuffer(ScratchBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  ScratchBuffer& operator=(ScratchBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

}  // namespace xpu::kernels

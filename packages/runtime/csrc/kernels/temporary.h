// Memory that a call needs only while its kernels run.
#pragma once

#include <cstdint>
#include <utility>

#include "xpu/memory.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// Given back when the host leaves the scope: the pool hands it out again only behind the kernels of the
/// stream.
class Temporary {
 public:
  Temporary() = default;
  Temporary(Stream stream, std::size_t bytes) : data_(memory::allocate(bytes, stream)) {}
  ~Temporary() { memory::deallocate(data_); }
  Temporary(Temporary&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  Temporary& operator=(Temporary&& other) noexcept {
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

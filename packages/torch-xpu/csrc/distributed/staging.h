// Pinned host memory in which a collective's tensors meet the transport, and the copies to and from it.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "xpu/stream.h"

namespace torch_xpu::distributed {

using Tensors = std::vector<at::Tensor>;

/// Returns tensors of the same memory, which they keep using if the program resizes the storage. A program
/// that does so lets a stream wait for the collective first, and the memory is reused in the order of that
/// stream.
Tensors alias(const Tensors& tensors);
/// Returns pinned memory for a tensor's elements in row-major order, as `type`.
at::Tensor host_buffer(const at::Tensor& like, at::ScalarType type);
/// Returns pinned memory of at least one byte.
at::Tensor host_bytes(std::int64_t bytes);
/// Enqueues a copy of a contiguous tensor to the host.
void copy_to_host(xpu::Stream stream, const at::Tensor& host, const at::Tensor& device);
/// Enqueues a copy from the host to a contiguous tensor.
void copy_from_host(xpu::Stream stream, const at::Tensor& device, const at::Tensor& host);

/// A block of memory for the elements of several tensors in turn.
class PackedBytes {
 public:
  explicit PackedBytes(const Tensors& tensors);
  const at::Tensor& all() const { return all_; }
  /// The bytes of each tensor.
  const std::vector<std::int64_t>& sizes() const { return sizes_; }
  at::Tensor part(std::size_t i) const { return all_.narrow(0, offsets_[i], sizes_[i]); }

 private:
  std::vector<std::int64_t> sizes_, offsets_;
  at::Tensor all_;
};

}  // namespace torch_xpu::distributed

// Reductions that the transport does not have, from those that it has.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

namespace torch_xpu::distributed {

/// How tensors of one type are reduced. The device's part runs on the current stream.
class Reduction {
 public:
  /// Throws c10::Error, which names the collective, if the type cannot be reduced in this way.
  Reduction(const char* collective, c10d::ReduceOp op, at::ScalarType type, int ranks);

  /// What the transport reduces: a new tensor, or the input itself.
  at::Tensor prepare(const at::Tensor& input) const;
  /// The type in which the transport reduces.
  at::ScalarType transport_type() const { return transport_type_; }
  /// The transport's operation.
  c10d::ReduceOp transport_op() const { return transport_op_; }
  /// Writes the result, from what the transport has reduced. May change `reduced`.
  void store(const at::Tensor& reduced, const at::Tensor& result) const;
  /// True if the transport's result is the result.
  bool is_plain() const { return op_.op_ == transport_op_.op_ && type_ == transport_type_; }

 private:
  c10d::ReduceOp op_;
  c10d::ReduceOp transport_op_;
  at::ScalarType type_;
  at::ScalarType transport_type_;
  int ranks_;
};

}  // namespace torch_xpu::distributed

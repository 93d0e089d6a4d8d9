// Row-major copies of tensors with other strides, for kernels that need contiguous operands.
#pragma once

#include "kernels/scratch_buffer.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// A row-major tensor of the shape of `like`, at `data`.
Tensor row_major(void* data, DType dtype, const Tensor& like);

/// An input: the tensor itself if it is contiguous, otherwise a row-major copy.
class ContiguousInput {
 public:
  ContiguousInput(Stream stream, const Tensor& tensor);
  const Tensor& tensor() const { return tensor_; }

 private:
  ScratchBuffer copy_;
  Tensor tensor_;
};

/// An output: the tensor itself if it is contiguous, otherwise row-major memory that finish() copies to it.
class ContiguousOutput {
 public:
  ContiguousOutput(Stream stream, const Tensor& tensor);
  const Tensor& tensor() const { return tensor_; }
  void finish();

 private:
  Stream stream_;
  ScratchBuffer memory_;
  Tensor target_, tensor_;
};

}  // namespace xpu::kernels

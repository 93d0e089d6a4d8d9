// Row-major stand-ins for tensors with other strides: what kernels that see memory as a line work on.
#pragma once

#include "kernels/scratch_buffer.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// A row-major tensor of the shape of `like`, at `data`.
Tensor row_major(void* data, DType dtype, const Tensor& like);

/// An input: the tensor itself, or a row-major copy of it.
class DenseInput {
 public:
  DenseInput(Stream stream, const Tensor& tensor);
  const Tensor& tensor() const { return tensor_; }

 private:
  ScratchBuffer copy_;
  Tensor tensor_;
};

/// An output: the tensor itself, or row-major memory that finish() copies to it.
class DenseOutput {
 public:
  DenseOutput(Stream stream, const Tensor& tensor);
  const Tensor& tensor() const { return tensor_; }
  void finish();

 private:
  Stream stream_;
  ScratchBuffer memory_;
  Tensor target_, tensor_;
};

}  // namespace xpu::kernels

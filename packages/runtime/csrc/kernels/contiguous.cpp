#include "kernels/contiguous.h"

#include "xpu/kernels/copy.h"

namespace xpu::kernels {
namespace {

std::size_t bytes_of(const Tensor& t) {
  return static_cast<std::size_t>(t.numel()) * size_of(t.dtype);
}

}  // namespace

Tensor row_major(void* data, DType dtype, const Tensor& like) {
  Tensor contiguous = like;
  contiguous.data = data;
  contiguous.dtype = dtype;
  std::int64_t step = 1;
  for (int i = like.ndim - 1; i >= 0; --i) {
    contiguous.strides[i] = step;
    step *= like.shape[i];
  }
  return contiguous;
}

ContiguousInput::ContiguousInput(Stream stream, const Tensor& tensor) : tensor_(tensor) {
  if (tensor.contiguous() || tensor.numel() == 0) return;
  copy_ = ScratchBuffer(stream, bytes_of(tensor));
  tensor_ = row_major(copy_.data(), tensor.dtype, tensor);
  copy(stream, tensor_, tensor);
}

ContiguousOutput::ContiguousOutput(Stream stream, const Tensor& tensor)
    : stream_(stream), target_(tensor), tensor_(tensor) {
  if (tensor.contiguous() || tensor.numel() == 0) return;
  memory_ = ScratchBuffer(stream, bytes_of(tensor));
  tensor_ = row_major(memory_.data(), tensor.dtype, tensor);
}

void ContiguousOutput::finish() {
  if (memory_.data()) copy(stream_, target_, tensor_);
}

}  // namespace xpu::kernels

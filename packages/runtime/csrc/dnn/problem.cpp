#include "dnn/problem.h"

#include "xpu/error.h"

namespace xpu::dnn {

// Returns the index of the next free word.
std::size_t Problem::take() {
  expect<Unsupported>(count_ < max_words, op_, ": too many dimensions, post-ops or options; split the call");
  return count_++;
}

int Problem::add(const Tensor& tensor) {
  expect<Unsupported>(operands_ < max_operands, op_, ": more than ", max_operands,
                      " tensors; split the call");
  number(static_cast<std::int64_t>(tensor.dtype) << 8 | tensor.ndim);  // one word for both
  for (int i = 0; i < tensor.ndim; ++i) {
    number(tensor.shape[i]);
    number(tensor.strides[i]);
  }
  pointers_[operands_] = tensor.data;
  return static_cast<int>(operands_++);
}

std::uint64_t Problem::hash() const {
  std::uint64_t h = 0x9e3779b97f4a7c15u;
  for (std::size_t i = 0; i < count_; ++i) {
    h = (h ^ static_cast<std::uint64_t>(words_[i])) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return h;
}

}  // namespace xpu::dnn

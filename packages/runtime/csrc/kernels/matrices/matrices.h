// Parts of batches of matrices, and what of them is left when a product is taken away.
#pragma once

#include <cstdint>

#include "xpu/dnn/matmul.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// A range of a dimension.
inline Tensor narrow(Tensor t, int dim, std::int64_t begin, std::int64_t size) {
  t.data = static_cast<char*>(t.data) + begin * t.strides[dim] * static_cast<std::int64_t>(size_of(t.dtype));
  t.shape[dim] = size;
  return t;
}

inline Tensor block(const Tensor& t, std::int64_t row, std::int64_t rows, std::int64_t column,
                    std::int64_t columns) {
  return narrow(narrow(t, 1, row, rows), 2, column, columns);
}

inline Tensor transposed(Tensor t) {
  std::swap(t.shape[1], t.shape[2]);
  std::swap(t.strides[1], t.strides[2]);
  return t;
}

/// c -= a @ b, of matrices of one dtype; each of the two may be meant conjugate.
void subtract_product(Stream stream, const Tensor& c, const Tensor& a, const Tensor& b,
                      const dnn::MatmulOptions& options, bool conjugate_a = false, bool conjugate_b = false);

}  // namespace xpu::kernels

// A view of a tensor as the matrices that it holds, each transposed.
#pragma once

#include <utility>

#include "xpu/tensor.h"

namespace xpu::dnn {

/// Returns a view with the last two dimensions swapped.
inline Tensor transposed(Tensor t) {
  std::swap(t.shape[t.ndim - 2], t.shape[t.ndim - 1]);
  std::swap(t.strides[t.ndim - 2], t.strides[t.ndim - 1]);
  return t;
}

}  // namespace xpu::dnn

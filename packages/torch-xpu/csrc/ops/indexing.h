// Functions that indexing operators share.
#pragma once

#include <ATen/Context.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>

#include "ops/tensor.h"
#include "xpu/kernels/index.h"

namespace torch_xpu {

/// A tensor without dimensions is one of a single element wherever PyTorch takes a dimension or an index.
inline xpu::Tensor line_view(const at::Tensor& t) {
  auto view = view_of(t);
  if (view.ndim == 0) {
    view.ndim = 1;
    view.shape[0] = view.strides[0] = 1;
  }
  return view;
}

inline int wrapped(std::int64_t dim, const at::Tensor& self) {
  return static_cast<int>(at::maybe_wrap_dim(dim, self.dim()));
}

inline xpu::kernels::IndexOptions index_options() {
  return {.deterministic = at::globalContext().deterministicAlgorithms()};
}

/// An in-place form's output is its input already.
inline void begin_with(const at::Tensor& output, const at::Tensor& self) {
  if (!output.is_same(self)) output.copy_(self);
}

/// The identity of a combination, in the dtype.
xpu::Scalar identity_of(xpu::kernels::Combine combine, at::ScalarType dtype);

}  // namespace torch_xpu

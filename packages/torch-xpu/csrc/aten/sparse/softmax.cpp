// The softmax of what sparse tensors store: what they do not store counts as minus infinity.
#include <ATen/TensorOperators.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/_unique2.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <torch/library.h>

#include <limits>

#include "ops/arguments.h"
#include "ops/sparse.h"

namespace torch_xpu {
namespace {

using at::Tensor;

// The lines that are summed over: a dimension of the values, or elements that differ in one sparse dimension.
struct Lines {
  std::int64_t dim;  // of the values, 0 where the lines are groups of them
  Tensor group;
  std::int64_t count = 0;

  Lines(const Tensor& coalesced, std::int64_t dim_) : dim(at::maybe_wrap_dim(dim_, coalesced.dim())) {
    if (dim >= coalesced.sparse_dim()) {
      dim -= coalesced.sparse_dim() - 1;
      return;
    }
    std::vector<std::int64_t> sizes, others;
    for (std::int64_t d = 0; d < coalesced.sparse_dim(); ++d)
      if (d != dim) sizes.push_back(coalesced.size(d)), others.push_back(d);
    auto other_dims = at::tensor(others, at::kLong).to(coalesced.device());
    auto [unique, inverse, counts] =
        at::_unique2(flatten_indices(coalesced._indices().index_select(0, other_dims), sizes), true, true);
    dim = 0, group = inverse, count = unique.numel();
  }

  Tensor sums(const Tensor& rows) const {
    return dim > 0 ? rows.sum(dim, true) : group_sums(rows, group, count).index_select(0, group);
  }
  Tensor largest(const Tensor& rows) const {
    if (dim > 0) return rows.amax(dim, true);
    auto shape = rows.sizes().vec();
    shape[0] = count;
    return at::full(shape, -std::numeric_limits<double>::infinity(), rows.options())
        .index_reduce_(0, group, rows, "amax")
        .index_select(0, group);
  }
};

template <bool log>
Tensor softmax(const Tensor& self, std::int64_t dim, bool half_to_float) {
  auto guard = guard_for(self);
  TORCH_CHECK(!half_to_float, "softmax with half to float conversion is not supported for sparse tensors");
  auto coalesced = self.coalesce();
  auto values = coalesced._values();
  if (values.numel() == 0) return coalesced.clone();
  Lines lines(coalesced, dim);
  auto wide = values.to(sum_type(values.scalar_type()));
  auto shifted = wide - lines.largest(wide);
  auto powers = shifted.exp();
  auto result = log ? shifted - lines.sums(powers).log() : powers / lines.sums(powers);
  return sparse_like(coalesced, coalesced._indices().clone(), result.to(values.dtype()), true);
}

template <bool log>
Tensor softmax_backward(const Tensor& grad, const Tensor& output, std::int64_t dim, const Tensor& self) {
  auto guard = guard_for(grad, output, self);
  auto coalesced = output.coalesce();
  auto values = coalesced._values();
  if (values.numel() == 0) return coalesced.clone();
  Lines lines(coalesced, dim);
  auto type = sum_type(values.scalar_type());
  auto y = values.to(type);
  auto g = rows_at(grad.coalesce(), flatten_indices(coalesced._indices(), coalesced.sizes())).to(type);
  auto result = log ? g - y.exp() * lines.sums(g) : y * (g - lines.sums(y * g));
  return sparse_like(coalesced, coalesced._indices().clone(), result.to(values.dtype()), true);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, SparseXPU, m) {
  m.impl("_sparse_softmax", softmax<false>);
  m.impl("_sparse_log_softmax", softmax<true>);
  m.impl("_sparse_softmax_backward_data", softmax_backward<false>);
  m.impl("_sparse_log_softmax_backward_data", softmax_backward<true>);
}

}  // namespace torch_xpu

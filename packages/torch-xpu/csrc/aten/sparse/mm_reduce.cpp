// Products of compressed rows with a dense matrix, whose terms are added, averaged, or the largest taken.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include "ops/arguments.h"
#include "ops/sparse.h"

namespace torch_xpu {
namespace {

using at::Tensor;

// Of a matrix's elements, as they are stored.
struct Elements {
  Tensor rows, columns, values;
  std::int64_t row_count;

  explicit Elements(const Tensor& matrix)
      : columns(matrix.col_indices().to(at::kLong)), values(matrix.values()), row_count(matrix.size(0)) {
    auto starts = matrix.crow_indices().to(at::kLong);
    rows = at::searchsorted(starts, at::arange(columns.numel(), starts.options()), false, true).sub_(1);
  }
  // As a column of floats, at least 1.
  Tensor lengths(const Tensor& like) const {
    auto ones = at::full({rows.numel(), 1}, 1, like.options());
    return at::zeros({row_count, 1}, like.options()).index_add_(0, rows, ones).clamp_min_(1);
  }
};

bool selects(c10::string_view reduce) {
  return reduce == "amax" || reduce == "amin";
}

std::tuple<Tensor, Tensor> mm_reduce(const Tensor& self, const Tensor& other, c10::string_view reduce) {
  auto guard = guard_for(self, other);
  check_one_device(self, other);
  TORCH_CHECK(
      self.layout() == at::kSparseCsr && self.dim() == 2 && other.dim() == 2 &&
          self.size(1) == other.size(0) && self.scalar_type() == other.scalar_type(),
      "torch.sparse.mm: expected a CSR matrix and a dense one of one dtype that can be multiplied, got ",
      self.layout(), " ", self.sizes(), " ", self.scalar_type(), " and ", other.sizes(), " ",
      other.scalar_type());
  TORCH_CHECK(selects(reduce) || reduce == "sum" || reduce == "mean",
              "torch.sparse.mm: reduce argument must be either sum, mean, amax or amin, got ", reduce);
  Elements elements(self);
  auto type = sum_type(self.scalar_type());
  auto terms = scaled_rows(other.index_select(0, elements.columns).to(type), elements.values.to(type));
  auto out = at::zeros({self.size(0), other.size(1)}, other.options().dtype(type));
  auto none = at::empty({0}, elements.rows.options());
  if (terms.numel() == 0)
    return {out.to(other.dtype()),
            selects(reduce) ? at::full(out.sizes(), elements.rows.numel(), none.options()) : none};
  if (!selects(reduce)) {
    out.index_add_(0, elements.rows, terms);
    if (reduce == "mean") out.div_(elements.lengths(out));
    return {out.to(other.dtype()), none};
  }
  // Rows without elements stay zero: the others forget it.
  out.index_reduce_(0, elements.rows, terms, reduce, false);
  auto count = elements.rows.numel();
  auto numbers = at::arange(count, none.options()).unsqueeze(1);
  auto candidates = numbers.where(terms.eq(out.index_select(0, elements.rows)), count);
  auto chosen =
      at::full(out.sizes(), count, none.options()).index_reduce_(0, elements.rows, candidates, "amin");
  return {out.to(other.dtype()), chosen};
}

std::tuple<Tensor, Tensor> mm_reduce_backward(const Tensor& self, const Tensor& grad_, const Tensor& other,
                                              c10::string_view reduce, const Tensor& chosen,
                                              std::array<bool, 2> wanted) {
  auto guard = guard_for(self, grad_, other);
  Elements elements(self);
  auto type = sum_type(self.scalar_type());
  auto grad = grad_.to(type), dense = other.to(type), values = elements.values.to(type);
  auto of_values = at::zeros_like(values), of_dense = at::zeros_like(dense);
  if (values.numel() > 0 && grad.numel() > 0 && selects(reduce)) {
    auto width = grad.size(1);
    auto picked = chosen.view({-1}).lt(values.numel()).nonzero().view({-1});
    auto element = chosen.view({-1}).index_select(0, picked);
    auto g = grad.reshape({-1}).index_select(0, picked);
    auto place = elements.columns.index_select(0, element).mul_(width).add_(picked.remainder(width));
    of_values.index_add_(0, element, g * dense.reshape({-1}).index_select(0, place));
    of_dense = of_dense.view({-1}).index_add(0, place, g * values.index_select(0, element)).view_as(dense);
  } else if (values.numel() > 0) {
    if (reduce == "mean") grad = grad / elements.lengths(grad);
    auto rows = grad.index_select(0, elements.rows);
    of_values = (rows * dense.index_select(0, elements.columns)).sum(1);
    of_dense.index_add_(0, elements.columns, scaled_rows(rows, values));
  }
  Tensor of_self;
  if (wanted[0]) {
    of_self = self.clone();
    of_self.values().copy_(of_values);
  }
  return {of_self, wanted[1] ? of_dense.to(other.dtype()) : Tensor()};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, SparseCsrXPU, m) {
  m.impl("_sparse_mm_reduce_impl", mm_reduce);
  m.impl("_sparse_mm_reduce_impl_backward", mm_reduce_backward);
}

}  // namespace torch_xpu

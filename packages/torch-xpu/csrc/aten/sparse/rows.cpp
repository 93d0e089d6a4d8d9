// Matrices in compressed rows, reduced and solved with.
#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_sparse_csr_tensor_unsafe.h>
#include <ATen/ops/_unique2.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_solve_triangular.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include "ops/arguments.h"
#include "ops/sparse.h"

namespace torch_xpu {
namespace {

using at::Tensor;

Tensor group_products(const Tensor& values, const Tensor& group, std::int64_t count) {
  auto type = sum_type(values.scalar_type());
  return at::ones({count}, values.options().dtype(type))
      .scatter_reduce_(0, group, values.to(type), "prod")
      .to(values.dtype());
}

// What is stored is reduced to one element for each row or column, or one for all, that has elements.
template <class Reduce>
Tensor reduce_rows(const char* name, const Tensor& self, at::IntArrayRef dims, bool keepdim,
                   std::optional<at::ScalarType> dtype, Reduce reduce) {
  TORCH_CHECK(self.layout() == at::kSparseCsr && self.dim() == 2, name,
              ": expected a matrix of layout torch.sparse_csr, got ", self.dim(), " dimensions of layout ",
              self.layout());
  TORCH_CHECK(keepdim, "reduction operations on CSR tensors with keepdim=False is unsupported");
  auto guard = guard_for(self);
  auto chosen = at::dim_list_to_bitset(dims, 2);
  bool over_rows = chosen[0] || dims.empty(), over_columns = chosen[1] || dims.empty();
  auto starts = self.crow_indices(), columns = self.col_indices(), values = self.values();
  values = values.to(
      dtype.value_or(at::isIntegralType(values.scalar_type(), true) ? at::kLong : values.scalar_type()));
  auto make = [&](const Tensor& begins, const Tensor& column_indices, const Tensor& results) {
    return at::_sparse_csr_tensor_unsafe(begins, column_indices, results,
                                         {over_rows ? 1 : self.size(0), over_columns ? 1 : self.size(1)},
                                         results.scalar_type(), at::kSparseCsr, self.device(), false);
  };
  auto one_row = [&](std::int64_t count) { return at::arange(2, starts.options()).mul_(count); };
  if (over_rows && over_columns) {
    std::int64_t count = values.numel() > 0;
    auto group = at::zeros({values.numel()}, columns.options().dtype(at::kLong));
    return make(one_row(count), at::zeros({count}, columns.options()), reduce(values, group, count));
  }
  if (over_rows) {
    auto [unique, group, counts] = at::_unique2(columns, true, true, false);
    return make(one_row(unique.numel()), unique, reduce(values, group, unique.numel()));
  }
  auto filled = starts.diff().gt(0);
  auto begins = at::zeros_like(starts);
  begins.narrow(0, 1, filled.numel()).copy_(filled.cumsum(0));
  auto group = at::searchsorted(starts, at::arange(values.numel(), starts.options()), false, true).sub_(1);
  auto all = reduce(values, group, self.size(0));
  auto results = all.masked_select(filled);
  return make(begins, at::zeros({results.numel()}, columns.options()), results);
}

Tensor sum_of_rows(const Tensor& self, at::IntArrayRef dims, bool keepdim,
                   std::optional<at::ScalarType> dtype) {
  return reduce_rows("_sparse_csr_sum", self, dims, keepdim, dtype, group_sums);
}
Tensor product_of_rows(const Tensor& self, at::IntArrayRef dims, bool keepdim,
                       std::optional<at::ScalarType> dtype) {
  return reduce_rows("_sparse_csr_prod", self, dims, keepdim, dtype, group_products);
}

// By the dense matrix: each row of a sparse one would wait for the rows above it.
Tensor solve(const Tensor& b, const Tensor& a, bool upper, bool transpose, bool unit) {
  auto guard = guard_for(b, a);
  check_one_device(b, a);
  TORCH_CHECK(a.layout() == at::kSparseCsr || a.layout() == at::kSparseCsc,
              "triangular_solve: expected A of layout torch.sparse_csr, got ", a.layout());
  auto dense = a.to_dense();
  if (transpose) dense = dense.mT();
  return at::linalg_solve_triangular(dense, b, upper != transpose, true, unit);
}
// The second result is A again where that is dense.
std::tuple<Tensor, Tensor> triangular_solve(const Tensor& b, const Tensor& a, bool upper, bool transpose,
                                            bool unit) {
  return {solve(b, a, upper, transpose, unit), at::empty({0}, b.options())};
}
std::tuple<Tensor&, Tensor&> triangular_solve_out(const Tensor& b, const Tensor& a, bool upper,
                                                  bool transpose, bool unit, Tensor& x, Tensor& again) {
  auto solution = solve(b, a, upper, transpose, unit);
  at::native::resize_output(x, solution.sizes());
  at::native::resize_output(again, {0});
  x.copy_(solution);
  return {x, again};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, SparseCsrXPU, m) {
  m.impl("_sparse_csr_sum.dim_dtype", sum_of_rows);
  m.impl("_sparse_csr_prod.dim_dtype", product_of_rows);
  m.impl("triangular_solve", triangular_solve);
  m.impl("triangular_solve.X", triangular_solve_out);
}

}  // namespace torch_xpu

// Distinct elements, and how often each occurs.
#include <ATen/TensorOperators.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/diff.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <cmath>

#include "ops/arguments.h"

namespace torch_xpu {
namespace {

using at::Scalar;
using at::Tensor;
using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;
using MaybeTensor = const std::optional<Tensor>&;

// Rows of which the first of each run of equals is returned. `order` says where the rows stood, if they were
// moved.
Three first_of_runs(const Tensor& rows, const Tensor& order, bool want_inverse, bool want_counts) {
  auto n = rows.size(0);
  auto longs = rows.options().dtype(at::kLong);
  auto inverse = at::empty({0}, longs), counts = at::empty({0}, longs);
  if (n == 0) return {rows, inverse, counts};
  auto differs = rows.narrow(0, 1, n - 1).ne(rows.narrow(0, 0, n - 1));
  if (rows.dim() > 1) differs = differs.flatten(1).any(1);
  auto starts = at::cat({at::ones({1}, differs.options()), differs});
  auto places = at::nonzero(starts).view({-1});
  if (want_inverse) {
    auto group = at::cumsum(starts, 0) - 1;
    inverse = order.defined() ? at::empty_like(group).scatter_(0, order, group) : group;
  }
  if (want_counts) counts = at::diff(at::cat({places, at::full({1}, n, longs)}));
  return {rows.index_select(0, places), inverse, counts};
}

Three unique2(const Tensor& self, bool, bool want_inverse, bool want_counts) {
  auto guard = guard_for(self);
  auto [values, order] = at::sort(self.reshape({-1}), true, 0, false);
  auto [unique, inverse, counts] = first_of_runs(values, order, want_inverse, want_counts);
  return {unique, want_inverse ? inverse.reshape(self.sizes()) : inverse, counts};
}
Two unique1(const Tensor& self, bool sorted, bool want_inverse) {
  auto [unique, inverse, counts] = unique2(self, sorted, want_inverse, false);
  return {unique, inverse};
}

// By the last column first: each sort leaves what was equal in its order.
Tensor order_of_rows(const Tensor& rows) {
  auto columns = rows.reshape({rows.size(0), -1});
  Tensor order;
  for (auto c = columns.size(1) - 1; c >= 0; --c) {
    auto column = columns.select(1, c);
    if (order.defined()) column = column.index_select(0, order);
    auto next = at::argsort(column, true, 0, false);
    order = order.defined() ? order.index_select(0, next) : next;
  }
  return order;
}

Three along(const Tensor& self, std::int64_t dim, bool sort, bool want_inverse, bool want_counts) {
  auto guard = guard_for(self);
  dim = at::maybe_wrap_dim(dim, self.dim());
  auto rows = self.dim() ? self.transpose(0, dim).contiguous() : self.reshape({1});
  if (rows.numel() == 0) {
    TORCH_CHECK(rows.size(0) == 0,
                "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
    auto none = at::empty({0}, self.options().dtype(at::kLong));
    return {at::empty(self.sizes(), self.options()), none, none};
  }
  Tensor order;
  if (sort) {
    order = order_of_rows(rows);
    rows = rows.index_select(0, order);
  }
  auto [unique, inverse, counts] = first_of_runs(rows, order, want_inverse, want_counts);
  return {self.dim() ? unique.transpose(0, dim) : unique, inverse, counts};
}
Three unique_along(const Tensor& self, std::int64_t dim, bool, bool want_inverse, bool want_counts) {
  return along(self, dim, true, want_inverse, want_counts);
}
Three consecutive_along(const Tensor& self, std::int64_t dim, bool want_inverse, bool want_counts) {
  return along(self, dim, false, want_inverse, want_counts);
}
Three consecutive(const Tensor& self, bool want_inverse, bool want_counts, std::optional<std::int64_t> dim) {
  if (dim && self.dim()) return consecutive_along(self, *dim, want_inverse, want_counts);
  auto guard = guard_for(self);
  auto [unique, inverse, counts] = first_of_runs(self.reshape({-1}), {}, want_inverse, want_counts);
  return {unique, want_inverse ? inverse.reshape(self.sizes()) : inverse, counts};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_unique", unique1);
  m.impl("_unique2", unique2);
  m.impl("unique_dim", unique_along);
  m.impl("unique_dim_consecutive", consecutive_along);
  m.impl("unique_consecutive", consecutive);
}

}  // namespace torch_xpu

// The building blocks of dense linear algebra: batches of matrices [batch, rows, columns] of f32, f64, c64 or
// c128, of any strides, changed in place.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_xpu {

/// How a matrix in memory is read: which triangle, and whether its diagonal counts as ones.
/// The other triangle is never read. Transposed ones are views; conjugate ones may be.
struct Triangle {
  bool upper = false, unit = false;
};

/// x becomes the solution of a @ solution = x; a's batch is x's or 1.
void solve_triangle(const at::Tensor& a, const at::Tensor& x, Triangle which);

/// L and U in place of `a`, with pivots [batch, min(rows, columns)] as in LAPACK, i32 and contiguous. `info`
/// [batch], zeros before, gets the number of the first pivot that is zero.
void factorize_lu(const at::Tensor& a, const at::Tensor& pivots, const at::Tensor& info, bool pivot);

/// L in place of the lower triangle of a Hermitian matrix; nothing is said of the rest. `info` as above: the
/// first leading minor that is not positive.
void factorize_cholesky(const at::Tensor& a, const at::Tensor& info);

/// Exchanges row k of x with row pivots[k] - 1, first to last, or `back`: last to first.
void swap_rows(const at::Tensor& x, const at::Tensor& pivots, bool back);

/// The tensor as one batch of matrices: a view where its strides allow.
at::Tensor one_batch(const at::Tensor& t);

/// Calls `change` on the tensor as one batch, to be changed in place.
template <class Change>
void in_place(const at::Tensor& t, Change&& change) {
  auto batch = one_batch(t);
  change(batch);
  if (!batch.is_alias_of(t)) t.copy_(batch.view(t.sizes()));
}

}  // namespace torch_xpu

// Systems of equations whose matrix is a triangle, or given by its Cholesky factor.
#include <ATen/native/LinearAlgebraUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/triangular_solve_meta.h>

#include "ops/factorize.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::Tensor;

// Batches are broadcast already.
void solve(const Tensor& a, const Tensor& x, Triangle which) {
  in_place(x, [&](const Tensor& batch) { solve_triangle(one_batch(a), batch, which); });
}

Tensor& solve_triangular_out(const Tensor& a, const Tensor& b, bool upper, bool left, bool unit,
                             Tensor& out) {
  auto guard = guard_for(a, b);
  check_one_device(a, b, out);
  at::native::checkInputsSolver(a, b, left, "linalg.solve_triangular");
  TORCH_CHECK(a.scalar_type() == b.scalar_type() && out.scalar_type() == b.scalar_type(),
              "linalg.solve_triangular: expected matrices of one dtype, got ", a.scalar_type(), ", ",
              b.scalar_type(), " and ", out.scalar_type());
  // Lazy negatives come here as they are; conjugates are meant by the solver.
  auto [rhs, matrix] = at::native::_linalg_broadcast_batch_dims(b, a.resolve_neg(), nullptr);
  at::native::resize_output(out, rhs.sizes());
  out.copy_(rhs);
  // X A = B is A^T X^T = B^T.
  if (left)
    solve(matrix, out, {upper, unit});
  else
    solve(matrix.mT(), out.mT(), {!upper, unit});
  return out;
}

Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left, bool unit) {
  auto guard = guard_for(a, b);
  at::native::checkInputsSolver(a, b, left, "linalg.solve_triangular");
  auto [rhs, matrix] = at::native::_linalg_broadcast_batch_dims(b, a, nullptr);
  // These are the strides that PyTorch's shape function promises to compiled code.
  bool column_major = !(matrix.is_conj() && matrix.mT().is_contiguous());
  auto strides = at::native::batched_matrix_contiguous_strides(rhs.sizes(), column_major);
  auto out = at::empty_strided(rhs.sizes(), strides, b.options());
  return solve_triangular_out(a, b, upper, left, unit, out);
}

void triangular_solve(auto& op, const Tensor& self, const Tensor& a, bool upper, bool transpose, bool unit) {
  op.output(0).copy_(self);
  op.output(1).copy_(a);
  if (self.numel() == 0) return;
  if (transpose)
    solve(op.output(1).mT(), op.output(0), {!upper, unit});
  else
    solve(op.output(1), op.output(0), {upper, unit});
}

// Of L L^H x = b, or U^H U x = b.
void solve_by_factor(const Tensor& factor, const Tensor& x, bool upper) {
  solve(upper ? factor.mH() : factor, x, {});
  solve(upper ? factor : factor.mH(), x, {.upper = true});
}

Tensor cholesky_solve(const Tensor& self, const Tensor& factor, bool upper) {
  auto guard = guard_for(self, factor);
  check_one_device(self, factor);
  auto out = at::native::cloneBatchedColumnMajor(self);
  solve_by_factor(factor, out, upper);
  return out;
}

Tensor cholesky_inverse(const Tensor& factor, bool upper) {
  auto guard = guard_for(factor);
  at::native::squareCheckInputs(factor, "cholesky_inverse");
  auto strides = at::native::batched_matrix_contiguous_strides(factor.sizes(), /*f_contig=*/true);
  auto out = at::empty_strided(factor.sizes(), strides, factor.options());
  if (out.numel() == 0) return out;
  out.zero_();
  out.diagonal(0, -2, -1).fill_(1);
  solve_by_factor(factor, out, upper);
  return out;
}
Tensor& cholesky_inverse_out(const Tensor& factor, bool upper, Tensor& out) {
  auto guard = guard_for(factor);
  check_one_device(factor, out);
  at::native::checkLinalgCompatibleDtype("cholesky_inverse", out, factor);
  auto inverse = cholesky_inverse(factor, upper);
  at::native::resize_output(out, inverse.sizes());
  return out.copy_(inverse);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("linalg_solve_triangular", solve_triangular);
  m.impl("linalg_solve_triangular.out", solve_triangular_out);
  structured<at::meta::structured_triangular_solve, KERNEL(triangular_solve), 2>(m, "triangular_solve",
                                                                                 "triangular_solve.X");
  m.impl("_cholesky_solve_helper", cholesky_solve);
  m.impl("cholesky_inverse", cholesky_inverse);
  m.impl("cholesky_inverse.out", cholesky_inverse_out);
}

}  // namespace torch_xpu

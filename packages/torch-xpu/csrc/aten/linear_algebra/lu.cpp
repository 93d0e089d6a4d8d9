// LU factorizations, and what follows from them: solutions, inverses and determinants.
#include <ATen/native/LinearAlgebraUtils.h>
#include <ATen/ops/_linalg_check_errors.h>
#include <ATen/ops/_linalg_det_meta.h>
#include <ATen/ops/_linalg_slogdet_meta.h>
#include <ATen/ops/_linalg_solve_ex_meta.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_inv_ex_meta.h>
#include <ATen/ops/linalg_lu_factor_ex.h>
#include <ATen/ops/linalg_lu_factor_ex_meta.h>
#include <ATen/ops/linalg_lu_meta.h>
#include <ATen/ops/linalg_lu_solve.h>
#include <ATen/ops/linalg_lu_solve_meta.h>
#include <ATen/ops/linalg_solve_ex.h>
#include <ATen/ops/lu_unpack.h>
#include <ATen/ops/lu_unpack_meta.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/prod.h>
#include <ATen/ops/tril.h>
#include <ATen/ops/triu.h>

#include "ops/factorize.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::Tensor;

void factor_ex(auto& op, const Tensor& a, bool pivot, bool check_errors) {
  auto &lu = op.output(0), &pivots = op.output(1), &info = op.output(2);
  info.zero_();
  lu.copy_(a);
  if (lu.numel()) {
    auto steps = pivots.size(-1);
    auto numbers = pivots.contiguous(), infos = info.contiguous();
    in_place(lu, [&](const Tensor& batch) {
      factorize_lu(batch, numbers.view({batch.size(0), steps}), infos, pivot);
    });
    if (!numbers.is_same(pivots)) pivots.copy_(numbers);
    if (!infos.is_same(info)) info.copy_(infos);
  }
  if (check_errors) at::_linalg_check_errors(info, "torch.linalg.lu_factor_ex", a.dim() == 2);
}

void unpack(auto& op, const Tensor& lu, const Tensor& pivots, bool unpack_data, bool unpack_pivots) {
  auto rows = lu.size(-2), columns = lu.size(-1);
  if (unpack_data && lu.numel()) {
    auto rank = std::min(rows, columns);
    // Either may be in the memory of the product.
    auto lower = lu.narrow(-1, 0, rank).tril(-1), upper = lu.narrow(-2, 0, rank).triu();
    lower.diagonal(0, -2, -1).fill_(1);
    op.output(1).copy_(lower);
    op.output(2).copy_(upper);
  }
  if (unpack_pivots && op.output(0).numel()) {
    // Rows of the identity exchanged as the matrix's were make the transpose.
    auto& p = op.output(0);
    p.zero_();
    p.diagonal(0, -2, -1).fill_(1);
    auto numbers = pivots.contiguous();
    in_place(p.mT(), [&](const Tensor& batch) {
      swap_rows(batch, numbers.view({batch.size(0), pivots.size(-1)}), false);
    });
  }
}

void lu(auto& op, const Tensor& a, bool pivot) {
  auto [factors, pivots, info] = at::linalg_lu_factor_ex(a, pivot, false);
  auto [p, l, u] = at::lu_unpack(factors, pivots, true, pivot);
  if (pivot) op.output(0).copy_(p);
  op.output(1).copy_(l);
  op.output(2).copy_(u);
}

// With A = P L U, on x of the shape of the right-hand sides.
void solve_factored(const Tensor& lu, const Tensor& pivots, const Tensor& x, bool adjoint) {
  auto sizes = x.sizes().vec();
  sizes.back() = sizes[sizes.size() - 2];
  auto factors = one_batch(lu.expand(sizes));
  sizes.pop_back();
  auto numbers = pivots.expand(sizes).reshape({factors.size(0), pivots.size(-1)});
  in_place(x, [&](const Tensor& batch) {
    if (adjoint) {
      solve_triangle(factors.mH(), batch, {});
      solve_triangle(factors.mH(), batch, {.upper = true, .unit = true});
      swap_rows(batch, numbers, true);
    } else {
      swap_rows(batch, numbers, false);
      solve_triangle(factors, batch, {.unit = true});
      solve_triangle(factors, batch, {.upper = true});
    }
  });
}

void lu_solve(auto& op, const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool adjoint) {
  auto& out = op.output();
  if (out.numel() == 0) return;
  if (left) {
    out.copy_(b.expand_as(out));
    return solve_factored(lu, pivots, out, adjoint);
  }
  // X A = B is A^H X^H = B^H.
  auto x = b.expand_as(out).mH().clone(at::MemoryFormat::Contiguous);
  solve_factored(lu, pivots, x, !adjoint);
  out.copy_(x.mH());
}

void solve_ex(auto& op, const Tensor& a, const Tensor& b, bool left, bool check_errors) {
  auto [lu, pivots, info] = at::linalg_lu_factor_ex(a);
  op.output(1).copy_(lu);
  op.output(2).copy_(pivots);
  op.output(3).copy_(info);
  if (check_errors) at::_linalg_check_errors(info, "torch.linalg.solve_ex", a.dim() == 2);
  bool vector = at::native::linalg_solve_is_vector_rhs(lu, b);
  auto x = at::linalg_lu_solve(lu, pivots, vector ? b.unsqueeze(-1) : b, left);
  op.output(0).copy_(vector ? x.squeeze(-1) : x);
}

void inv_ex(auto& op, const Tensor& a, bool check_errors) {
  auto &inverse = op.output(0), &info = op.output(1);
  auto identity = at::empty(a.sizes(), a.options()).zero_();
  identity.diagonal(0, -2, -1).fill_(1);
  auto [x, infos] = at::linalg_solve_ex(a, identity);
  inverse.copy_(x);
  info.copy_(infos);
  if (check_errors) at::_linalg_check_errors(info, "linalg.inv_ex", a.dim() == 2);
}

// Of the transpose where a matrix lies row by row, as its determinant is the same and LU lies so. The
// derivatives count on this.
std::tuple<Tensor, Tensor, Tensor> factors_of(const Tensor& a) {
  return at::linalg_lu_factor_ex(a.is_contiguous() && !a.is_complex() ? a.mT() : a);
}

// 1 or -1: whether the rows' exchanges are even or odd in number.
Tensor sign_of(const Tensor& pivots) {
  auto unmoved = at::arange(1, pivots.size(-1) + 1, pivots.options());
  return pivots.ne(unmoved).sum(-1, false, at::kLong).fmod_(2).mul_(-2).add_(1);
}

void det(auto& op, const Tensor& a) {
  auto [lu, pivots, info] = factors_of(a);
  op.output(1).copy_(lu);
  op.output(2).copy_(pivots);
  op.output(0).copy_(at::prod(lu.diagonal(0, -2, -1), -1).mul_(sign_of(pivots)));
}

void slogdet(auto& op, const Tensor& a) {
  auto [lu, pivots, info] = factors_of(a);
  op.output(2).copy_(lu);
  op.output(3).copy_(pivots);
  auto diagonal = lu.diagonal(0, -2, -1);
  op.output(0).copy_(diagonal.sgn().prod(-1).mul_(sign_of(pivots)));
  op.output(1).copy_(diagonal.abs().log_().sum(-1));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  namespace meta = at::meta;
  structured<meta::structured_linalg_lu_factor_ex, KERNEL(factor_ex), 3>(m, "linalg_lu_factor_ex",
                                                                         "linalg_lu_factor_ex.out");
  structured<meta::structured_lu_unpack, KERNEL(unpack), 3>(m, "lu_unpack", "lu_unpack.out");
  structured<meta::structured_linalg_lu, KERNEL(lu), 3>(m, "linalg_lu", "linalg_lu.out");
  structured<meta::structured_linalg_lu_solve, KERNEL(lu_solve)>(m, "linalg_lu_solve", "linalg_lu_solve.out");
  structured<meta::structured__linalg_solve_ex, KERNEL(solve_ex), 4>(m, "_linalg_solve_ex",
                                                                     "_linalg_solve_ex.result");
  structured<meta::structured_linalg_inv_ex, KERNEL(inv_ex), 2>(m, "linalg_inv_ex", "linalg_inv_ex.inverse");
  structured<meta::structured__linalg_det, KERNEL(det), 3>(m, "_linalg_det", "_linalg_det.result");
  structured<meta::structured__linalg_slogdet, KERNEL(slogdet), 4>(m, "_linalg_slogdet",
                                                                   "_linalg_slogdet.sign");
}

}  // namespace torch_xpu

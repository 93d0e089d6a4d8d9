// Cholesky factors of positive-definite matrices.
#include <ATen/native/LinearAlgebraUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_linalg_check_errors.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_cholesky_ex.h>
#include <ATen/ops/linalg_cholesky_ex_meta.h>

#include "ops/factorize.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::Tensor;

void cholesky_ex(auto& op, const Tensor& self, bool upper, bool check_errors) {
  auto &factor = op.output(0), &info = op.output(1);
  info.zero_();
  if (factor.numel()) {
    // The factor above is the one below of the same matrix, read from above.
    auto lower = upper ? factor.mT() : factor;
    lower.copy_(upper ? self.mH() : self);
    lower.tril_();
    auto infos = info.contiguous();
    in_place(lower, [&](const Tensor& batch) { factorize_cholesky(batch, infos); });
    lower.tril_();
    if (!infos.is_same(info)) info.copy_(infos);
    if (upper && factor.is_complex()) factor.conj_physical_();
  }
  if (check_errors) at::_linalg_check_errors(info, "linalg.cholesky_ex", self.dim() == 2);
}

Tensor factor_of(const Tensor& self, bool upper) {
  auto guard = guard_for(self);
  at::native::squareCheckInputs(self, "cholesky");
  if (self.numel() == 0) return at::empty(self.sizes(), self.options());
  auto [factor, info] = at::linalg_cholesky_ex(self, upper, false);
  at::_linalg_check_errors(info, "cholesky", self.dim() == 2);
  return factor;
}
Tensor& factor_of_out(const Tensor& self, bool upper, Tensor& out) {
  auto guard = guard_for(self);
  check_one_device(self, out);
  at::native::checkLinalgCompatibleDtype("cholesky", out, self);
  auto factor = factor_of(self, upper);
  at::native::resize_output(out, factor.sizes());
  return out.copy_(factor);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_linalg_cholesky_ex, KERNEL(cholesky_ex), 2>(m, "linalg_cholesky_ex",
                                                                              "linalg_cholesky_ex.L");
  m.impl("cholesky", factor_of);
  m.impl("cholesky.out", factor_of_out);
}

}  // namespace torch_xpu

#include "ops/factorize.h"

#include <ATen/native/LinearAlgebraUtils.h>

#include "device/errors.h"
#include "ops/dnn/gemm.h"
#include "ops/tensor.h"
#include "xpu/kernels/factorize.h"

namespace torch_xpu {
namespace {

using at::Tensor;
namespace kernels = xpu::kernels;

void require_matrices_of_numbers(const char* op, const Tensor& t) {
  auto type = t.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(
      type == at::kFloat || type == at::kDouble || type == at::kComplexFloat || type == at::kComplexDouble,
      "\"", op, "\" not implemented for '", type, "'");
}

}  // namespace

Tensor one_batch(const Tensor& t) {
  return t.reshape({at::native::batchCount(t), t.size(-2), t.size(-1)});
}

void solve_triangle(const Tensor& a, const Tensor& x, Triangle which) {
  if (x.numel() == 0) return;
  require_matrices_of_numbers("solve_triangle", x);
  translate_errors([&] {
    kernels::solve_triangle(stream_of(x), view_of(a.is_conj() ? a.conj() : a), view_of(x),
                            {which.upper, which.unit, a.is_conj()}, matmul_options());
  });
}

void factorize_lu(const Tensor& a, const Tensor& pivots, const Tensor& info, bool pivot) {
  if (a.numel() == 0) return;
  require_matrices_of_numbers("lu", a);
  translate_errors([&] {
    kernels::factorize_lu(stream_of(a), view_of(a), view_of(pivots), view_of(info.view({-1})), pivot,
                          matmul_options());
  });
}

void factorize_cholesky(const Tensor& a, const Tensor& info) {
  if (a.numel() == 0) return;
  require_matrices_of_numbers("cholesky", a);
  translate_errors([&] {
    kernels::factorize_cholesky(stream_of(a), view_of(a), view_of(info.view({-1})), matmul_options());
  });
}

void swap_rows(const Tensor& x, const Tensor& pivots, bool back) {
  if (x.numel() == 0) return;
  require_matrices_of_numbers("lu", x);
  translate_errors([&] { kernels::swap_rows(stream_of(x), view_of(x), view_of(pivots), back); });
}

}  // namespace torch_xpu

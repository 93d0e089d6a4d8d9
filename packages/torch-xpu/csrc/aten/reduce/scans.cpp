// Cumulative sums and their like.
#include <ATen/WrapDimUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/cumprod_meta.h>
#include <ATen/ops/cumsum_meta.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/view_as_real.h>

#include "device/errors.h"
#include "ops/structured.h"
#include "ops/tensor.h"
#include "xpu/kernels/scan.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using Scanner = void(xpu::Stream, const xpu::Tensor&, const xpu::Tensor&, int, xpu::kernels::ScanOptions);

void scan(Scanner* scanner, const Tensor& out, const Tensor& self, std::int64_t dim) {
  if (self.numel() == 0) return;
  auto to = self.dim() ? out : out.view({1}), from = self.dim() ? self : self.view({1});
  auto along = static_cast<int>(at::maybe_wrap_dim(dim, self.dim()));
  translate_errors([&] { scanner(stream_of(self), view_of(to), view_of(from), along, {}); });
}

constexpr auto cumsum = [](auto& op, const Tensor& self, std::int64_t dim, auto&&...) {
  auto& out = op.output();
  if (!out.is_complex()) return scan(xpu::kernels::cumsum, out, self, dim);
  auto terms = self.scalar_type() == out.scalar_type() ? self : self.to(out.scalar_type());
  dim = at::maybe_wrap_dim(dim, self.dim());
  if (!self.dim())
    out.copy_(terms);
  else
    scan(xpu::kernels::cumsum, at::view_as_real(out), at::view_as_real(terms), dim);
};
constexpr auto cumprod = [](auto& op, const Tensor& self, std::int64_t dim, auto&&...) {
  scan(xpu::kernels::cumprod, op.output(), self, dim);
};

Tensor& logcumsumexp_out(const Tensor& self, std::int64_t dim, Tensor& out) {
  auto guard = guard_for(self, out);
  check_one_device(self, out);
  at::native::resize_output(out, self.sizes());
  check_overlap(out, self);
  scan(xpu::kernels::logcumsumexp, out, self, dim);
  return out;
}
Tensor logcumsumexp(const Tensor& self, std::int64_t dim) {
  auto guard = guard_for(self);
  auto out = at::empty_like(self, at::MemoryFormat::Contiguous);
  return logcumsumexp_out(self, dim, out);
}

template <auto extreme>
void extreme_so_far(const Tensor& self, Tensor& values, Tensor& indices, std::int64_t dim) {
  auto guard = guard_for(self);
  check_one_device(self, values, indices);
  if (self.numel() == 0) return;
  auto along = static_cast<int>(at::maybe_wrap_dim(dim, self.dim()));
  translate_errors(
      [&] { extreme(stream_of(self), view_of(values), view_of(indices), view_of(self), along); });
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_cumsum, cumsum>(m, "cumsum", "cumsum.out", "cumsum_");
  structured<at::meta::structured_cumprod, cumprod>(m, "cumprod", "cumprod.out", "cumprod_");
  m.impl("_logcumsumexp", logcumsumexp);
  m.impl("_logcumsumexp.out", logcumsumexp_out);
  m.impl("_cummax_helper", extreme_so_far<xpu::kernels::cummax>);
  m.impl("_cummin_helper", extreme_so_far<xpu::kernels::cummin>);
}

}  // namespace torch_xpu

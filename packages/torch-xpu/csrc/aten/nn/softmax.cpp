// Softmax, its logarithm, and their derivatives.
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/_log_softmax_backward_data_meta.h>
#include <ATen/ops/_log_softmax_meta.h>
#include <ATen/ops/_softmax_backward_data_meta.h>
#include <ATen/ops/_softmax_meta.h>
#include <ATen/ops/empty_like.h>

#include "ops/row_kernel.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::Tensor;

constexpr const char* larger = "s0 = s0 < r0 ? r0 : s0;";
constexpr const char* infinite = "-infinity()";

const RowKernel& softmax_rows() {
  static const auto& rows =
      *new RowKernel({.name = "softmax",
                      .passes = {{{{"T", infinite}}, "s0 = s0 < a0 ? a0 : s0;", larger},
                                 {{{"T", "0"}}, "s1 += cached;", "s1 += r1;", "T scale = (T)1 / s1;"}},
                      .outputs = {"cached * scale"},
                      .cached = "xpu::exp(a0 - s0)"});
  return rows;
}
const RowKernel& log_softmax_rows() {
  static const auto& rows = *new RowKernel(
      {.name = "log_softmax",
       .passes = {{{{"T", infinite}}, "s0 = s0 < a0 ? a0 : s0;", larger},
                  {{{"T", "0"}}, "s1 += xpu::exp(a0 - s0);", "s1 += r1;", "T low = xpu::log(s1);"}},
       .outputs = {"a0 - s0 - low"}});
  return rows;
}
// a0 is the gradient, a1 the result.
const RowKernel& softmax_backward_rows() {
  static const auto& rows = *new RowKernel({.name = "softmax_backward",
                                            .passes = {{{{"T", "0"}}, "s0 += a0 * a1;", "s0 += r0;"}},
                                            .outputs = {"(a0 - s0) * a1"},
                                            .inputs = 2});
  return rows;
}
const RowKernel& log_softmax_backward_rows() {
  static const auto& rows = *new RowKernel({.name = "log_softmax_backward",
                                            .passes = {{{{"T", "0"}}, "s0 += a0;", "s0 += r0;"}},
                                            .outputs = {"a0 - xpu::exp(a1) * s0"},
                                            .inputs = 2});
  return rows;
}
// a1 is 1 where an element is masked: those become 0, as does a row of them.
const RowKernel& masked_softmax_rows() {
  static const auto& rows =
      *new RowKernel({.name = "masked_softmax",
                      .passes = {{{{"T", infinite}}, "s0 = a1 == (T)0 && s0 < a0 ? a0 : s0;", larger},
                                 {{{"T", "0"}}, "s1 += cached;", "s1 += r1;", "T scale = (T)1 / s1;"}},
                      .outputs = {"a1 == (T)0 ? cached * scale : (T)0"},
                      .inputs = 2,
                      .cached = "a1 == (T)0 ? xpu::exp(a0 - s0) : (T)0"});
  return rows;
}
const RowKernel& masked_softmax_backward_rows() {
  static const auto& rows =
      *new RowKernel({.name = "masked_softmax_backward",
                      .passes = {{{{"T", "0"}}, "s0 += a2 == (T)0 ? a0 * a1 : (T)0;", "s0 += r0;"}},
                      .outputs = {"a2 == (T)0 ? (a0 - s0) * a1 : (T)0"},
                      .inputs = 3});
  return rows;
}

// Runs along one dimension; the output may have any strides.
void run(const RowKernel& rows, const Tensor& out, at::ArrayRef<Tensor> inputs, std::int64_t dim) {
  if (out.numel() == 0) return;
  dim = at::maybe_wrap_dim(dim, out.dim());
  auto to = out.contiguous();
  c10::SmallVector<Tensor, 3> from;
  for (auto& t : inputs) from.push_back(view_as_rows(t.contiguous(), dim));
  rows(view_as_rows(to, dim), {}, from);
  if (!to.is_same(out)) out.copy_(to);
}

template <const RowKernel& (*rows)()>
constexpr auto softmax_forward =
    [](auto& op, const Tensor& self, std::int64_t dim, bool) { run(rows(), op.output(), {self}, dim); };
template <const RowKernel& (*rows)()>
constexpr auto softmax_backward =
    [](auto& op, const Tensor& grad, const Tensor& output, std::int64_t dim, at::ScalarType) {
      run(rows(), op.output(), {grad, output}, dim);
    };

// A mask of a row's dimensions (type 0: [L, L], 1: [B, L]) broadcasts over the others of [B, H, L, L].
Tensor full_mask(const Tensor& self, const Tensor& mask, std::optional<std::int64_t> type) {
  TORCH_CHECK(mask.scalar_type() == at::kBool, "Mask should be a boolean tensor");
  auto m = mask;
  if (type && *type == 1 && m.dim() == 2 && self.dim() == 4) m = m.view({m.size(0), 1, 1, m.size(1)});
  return m.expand(self.sizes());
}

Tensor masked_softmax(const Tensor& self, const Tensor& mask, std::optional<std::int64_t> dim,
                      std::optional<std::int64_t> type) {
  auto guard = guard_for(self, mask);
  check_one_device(self, mask);
  TORCH_CHECK(type, "Mask Type should be defined");
  TORCH_CHECK(*type >= 0 && *type <= 2, "Mask Type should be 0 (src_mask), 1 (src_key_padding_mask), or 2");
  auto out = at::empty_like(self, at::MemoryFormat::Contiguous);
  run(masked_softmax_rows(), out, {self, full_mask(self, mask, type)}, dim.value_or(self.dim() - 1));
  return out;
}
Tensor masked_softmax_backward(const Tensor& grad, const Tensor& output, const Tensor& mask,
                               std::optional<std::int64_t> dim) {
  auto guard = guard_for(grad, output, mask);
  check_one_device(grad, output, mask);
  auto out = at::empty_like(grad, at::MemoryFormat::Contiguous);
  run(masked_softmax_backward_rows(), out, {grad, output, full_mask(grad, mask, {})},
      dim.value_or(output.dim() - 1));
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  namespace meta = at::meta;
  structured<meta::structured__softmax, softmax_forward<softmax_rows>>(m, "_softmax", "_softmax.out");
  structured<meta::structured__log_softmax, softmax_forward<log_softmax_rows>>(m, "_log_softmax",
                                                                               "_log_softmax.out");
  structured<meta::structured__softmax_backward_data, softmax_backward<softmax_backward_rows>>(
      m, "_softmax_backward_data", "_softmax_backward_data.out");
  structured<meta::structured__log_softmax_backward_data, softmax_backward<log_softmax_backward_rows>>(
      m, "_log_softmax_backward_data", "_log_softmax_backward_data.out");
  m.impl("_masked_softmax", masked_softmax);
  m.impl("_masked_softmax_backward", masked_softmax_backward);
}

}  // namespace torch_xpu

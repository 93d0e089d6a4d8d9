// Scaled dot product attention: the runtime's, which never holds all scores, where its conditions are met.
#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/_scaled_dot_product_fused_attention_overrideable.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/dnn/attention.h"
#include "ops/random.h"
#include "ops/tensor.h"
#include "xpu/dnn/attention.h"
#include "xpu/graph.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

void check_arguments(const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& mask,
                     bool causal) {
  check_one_device(q, k, v, mask);
  TORCH_CHECK(q.scalar_type() == k.scalar_type() && q.scalar_type() == v.scalar_type(),
              "Expected query, key, and value to have the same dtype, but got query.dtype: ", q.dtype(),
              " key.dtype: ", k.dtype(), " and value.dtype: ", v.dtype(), " instead.");
  TORCH_CHECK(q.dim() >= 2 && k.dim() >= 2 && v.dim() >= 2,
              "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: ",
              q.dim(), " key.dim: ", k.dim(), " and value.dim: ", v.dim(), " instead.");
  if (!given(mask)) return;
  TORCH_CHECK(
      mask->scalar_type() == at::kBool || mask->scalar_type() == at::kFloat ||
          mask->scalar_type() == q.scalar_type(),
      "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: ",
      mask->dtype(), " and  query.dtype: ", q.dtype(), " instead.");
  TORCH_CHECK(!causal, "Explicit attn_mask should not be set when is_causal=True");
}

// Sizes may be symbols here, since compilers trace the choice.
bool spreads(const Tensor& mask, const Tensor& q, const Tensor& k) {
  const c10::SymInt scores[] = {q.sym_size(0), q.sym_size(1), q.sym_size(2), k.sym_size(2)};
  for (std::int64_t d = 1; d <= mask.dim(); ++d)
    if (mask.dim() > 4 || (mask.sym_size(-d) != 1 && mask.sym_size(-d) != scores[4 - d])) return false;
  return true;
}

// Whether the runtime computes these.
bool fits(const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& mask, bool gqa) {
  auto type = q.scalar_type();
  if (type != at::kFloat && type != at::kHalf && type != at::kBFloat16) return false;
  if (q.dim() != 4 || k.dim() != 4 || v.dim() != 4) return false;
  if (q.sym_numel() == 0 || k.sym_numel() == 0 || v.sym_numel() == 0) return false;
  auto of_q = q.sym_size(1), of_k = k.sym_size(1);
  bool heads = of_k == v.sym_size(1) && (of_q == of_k || (gqa && of_k > 0 && of_q % of_k == 0));
  if (!heads || q.sym_size(0) != k.sym_size(0) || q.sym_size(0) != v.sym_size(0)) return false;
  if (q.sym_size(3) != k.sym_size(3) || k.sym_size(2) != v.sym_size(2)) return false;
  return !given(mask) || (!mask->requires_grad() && spreads(*mask, q, k));
}

// Fused attention has the state of its dropout among its arguments, so each replay of a graph would drop the
// same.
bool fits_graph(const Tensor& q, double dropout) {
  return dropout == 0 || !xpu::is_capturing(stream_of(q));
}

at::SDPBackend choice(const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& mask,
                      double dropout, bool gqa) {
  auto& context = at::globalContext();
  bool fused = context.userEnabledFlashSDP() || context.userEnabledMemEfficientSDP() ||
               context.userEnabledOverrideableSDP();
  if (fused && fits(q, k, v, mask, gqa) && fits_graph(q, dropout)) return at::SDPBackend::overrideable;
  TORCH_CHECK(context.userEnabledMathSDP(), "No available kernel. Aborting execution.");
  return at::SDPBackend::math;
}

std::int64_t fused_choice(const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& mask,
                          double dropout, bool causal, std::optional<double>, bool gqa) {
  check_arguments(q, k, v, mask, causal);
  return static_cast<std::int64_t>(choice(q, k, v, mask, dropout, gqa));
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const OptionalTensor& mask, double dropout, bool causal,
                                    std::optional<double> scale, bool gqa) {
  check_arguments(q, k, v, mask, causal);
  if (q.dim() == 3 && k.dim() == 3 && v.dim() == 3) {
    auto heads = given(mask) && mask->dim() == 3 ? OptionalTensor(mask->unsqueeze(1)) : mask;
    return scaled_dot_product_attention(q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1), heads, dropout,
                                        causal, scale, false)
        .squeeze(1);
  }
  if (choice(q, k, v, mask, dropout, gqa) == at::SDPBackend::math) {
    // It adds whatever mask it is given.
    auto added = mask;
    if (given(mask) && mask->scalar_type() == at::kBool)
      added = at::where(*mask, at::scalar_tensor(0, q.options()),
                        at::scalar_tensor(-std::numeric_limits<double>::infinity(), q.options()));
    return std::get<0>(
        at::_scaled_dot_product_attention_math(q, k, v, added, dropout, causal, {}, scale, gqa));
  }
  return std::get<0>(
      at::_scaled_dot_product_fused_attention_overrideable(q, k, v, mask, dropout, causal, false, scale));
}

namespace {

xpu::dnn::AttentionOptions options_of(const Tensor& q, const Tensor& logsumexp, const OptionalTensor& mask,
                                      double dropout, bool causal, std::optional<double> scale,
                                      xpu::Philox random) {
  xpu::dnn::AttentionOptions options;
  options.scale = static_cast<float>(scale.value_or(1 / std::sqrt(static_cast<double>(q.size(3)))));
  options.causal = causal;
  if (given(mask)) options.mask = view_of(*mask);
  options.logsumexp = view_of(logsumexp);
  options.dropout = static_cast<float>(dropout);
  options.random = random;
  return options;
}

// In the order of q's dimensions in memory, as compilers expect.
Tensor result_like(const Tensor& q, std::int64_t values) {
  if (q.size(3) == values) return at::empty_like(q);
  std::array<std::int64_t, 4> order{0, 1, 2, 3}, strides;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return q.stride(a) > q.stride(b); });
  auto sizes = q.sizes().vec();
  sizes[3] = values;
  std::int64_t step = 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    strides[static_cast<std::size_t>(*d)] = step;
    step *= sizes[static_cast<std::size_t>(*d)];
  }
  return at::empty_strided(sizes, strides, q.options());
}

Tensor dense_rows(const Tensor& t) {
  return t.stride(-1) == 1 ? t : t.contiguous();
}

// Copies results that were computed with dense rows to memory in the order of `like`, if that has none.
Tensor in_order_of(const Tensor& like, const Tensor& computed) {
  return like.stride(-1) == 1 ? computed : at::empty_like(like).copy_(computed);
}

using Fused = std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt, Tensor, Tensor, Tensor>;

Fused fused_attention(const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& mask,
                      double dropout, bool causal, bool debug_mask, std::optional<double> scale) {
  auto guard = guard_for(q, k, v);
  check_arguments(q, k, v, mask, causal);
  TORCH_CHECK_NOT_IMPLEMENTED(!debug_mask, "xpu's attention gives no debug mask");
  auto out = result_like(q, v.size(3)), rows = dense_rows(out);
  auto logsumexp = at::empty({q.size(0), q.size(1), q.size(2)}, q.options().dtype(at::kFloat));
  xpu::Philox random;
  if (dropout > 0) random = take_random(std::nullopt, q, 4);
  auto options = options_of(q, logsumexp, mask, dropout, causal, scale, random);
  translate_errors([&] {
    xpu::dnn::attention(stream_of(q), view_of(dense_rows(q)), view_of(dense_rows(k)), view_of(dense_rows(v)),
                        view_of(rows), options);
  });
  if (!rows.is_same(out)) out.copy_(rows);
  auto number = [](std::uint64_t n) { return at::scalar_tensor(std::bit_cast<std::int64_t>(n), at::kLong); };
  return {out, logsumexp, {}, {}, q.size(2), k.size(2), number(random.seed), number(random.offset), {}};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> fused_attention_backward(
    const Tensor& grad_, const Tensor& q_, const Tensor& k_, const Tensor& v_, const Tensor& mask,
    std::array<bool, 4> wanted, const Tensor& out, const Tensor& logsumexp, const Tensor&, const Tensor&,
    std::int64_t, std::int64_t, double dropout, bool causal, const Tensor& seed, const Tensor& offset,
    std::optional<double> scale) {
  auto guard = guard_for(grad_, q_, k_, v_);
  check_one_device(grad_, q_, k_, v_, out, logsumexp);
  TORCH_CHECK_NOT_IMPLEMENTED(!wanted[3], "xpu's fused attention has no gradient of the mask");
  auto grad = dense_rows(grad_), q = dense_rows(q_), k = dense_rows(k_), v = dense_rows(v_),
       result = dense_rows(out);
  auto grad_q = at::empty_like(q), grad_k = at::empty_like(k), grad_v = at::empty_like(v);
  xpu::Philox random;
  if (dropout > 0)
    random = {std::bit_cast<std::uint64_t>(seed.item<std::int64_t>()),
              std::bit_cast<std::uint64_t>(offset.item<std::int64_t>())};
  auto options = options_of(q, logsumexp, mask, dropout, causal, scale, random);
  translate_errors([&] {
    xpu::dnn::attention_backward(stream_of(q), view_of(grad), view_of(q), view_of(k), view_of(v),
                                 view_of(result), view_of(grad_q), view_of(grad_k), view_of(grad_v), options);
  });
  return {in_order_of(q_, grad_q), in_order_of(k_, grad_k), in_order_of(v_, grad_v), {}};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("scaled_dot_product_attention", scaled_dot_product_attention);
  m.impl("_fused_sdp_choice", fused_choice);
  m.impl("_scaled_dot_product_fused_attention_overrideable", fused_attention);
  m.impl("_scaled_dot_product_fused_attention_overrideable_backward", fused_attention_backward);
}

// PyTorch's own would ask for a kernel that only its own builds for xpu can have.
TORCH_LIBRARY_IMPL(aten, AutogradXPU, m) {
  m.impl("scaled_dot_product_attention", scaled_dot_product_attention);
}

}  // namespace torch_xpu

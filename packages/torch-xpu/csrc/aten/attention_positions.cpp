// Fused attention under the names that take [batch, positions, heads, size].
#include <ATen/core/Tensor.h>
#include <ATen/ops/_scaled_dot_product_fused_attention_overrideable.h>
#include <ATen/ops/_scaled_dot_product_fused_attention_overrideable_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>
#include <torch/library.h>

#include <limits>

#include "ops/arguments.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using OptionalInt = std::optional<std::int64_t>;

// Of custom_mask_type.
enum Causal { everywhere, from_the_start, to_the_end };

void check_layout(const char* name, const Tensor& q, const Tensor& k, const Tensor& v,
                  const OptionalTensor& starts_q, const OptionalTensor& starts_k) {
  check_one_device(q, k, v);
  TORCH_CHECK_NOT_IMPLEMENTED(!given(starts_q) && !given(starts_k), name,
                              ": xpu takes no packed sequences (cumulative lengths); pad them to one length");
  for (auto& t : {q, k, v})
    TORCH_CHECK(t.dim() == 4, name, ": expected [batch, positions, heads, size], got sizes ", t.sizes());
}

void check_window(const char* name, OptionalInt left, OptionalInt right) {
  TORCH_CHECK_NOT_IMPLEMENTED(left.value_or(-1) < 0 && right.value_or(-1) < 0, name,
                              ": xpu's attention has no window of keys; give a mask");
}

// Which keys a query sees, as the runtime takes it: a flag for those from the start, a mask for the rest.
struct Visible {
  OptionalTensor mask;
  bool causal = false;
};

Visible visible(const Tensor& q, const Tensor& k, const OptionalTensor& bias, Causal causal) {
  auto queries = q.size(1), keys = k.size(1);
  bool flag = causal == from_the_start || (causal == to_the_end && queries == keys);
  if (causal == everywhere || (flag && !given(bias))) return {given(bias) ? bias : std::nullopt, flag};
  auto seen = at::ones({queries, keys}, q.options().dtype(at::kBool)).tril_(flag ? 0 : keys - queries);
  if (!given(bias)) return {seen};
  return {at::where(seen, *bias, -std::numeric_limits<double>::infinity())};
}

struct Result {
  Tensor out, logsumexp, seed, offset;
};

Result forward(const Tensor& q, const Tensor& k, const Tensor& v, const Visible& keys, double dropout,
               std::optional<double> scale) {
  auto r = at::_scaled_dot_product_fused_attention_overrideable(
      q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), keys.mask, dropout, keys.causal, false, scale);
  return {std::get<0>(r).transpose(1, 2), std::get<1>(r), std::get<6>(r), std::get<7>(r)};
}

std::array<Tensor, 3> backward(const Tensor& grad, const Tensor& q, const Tensor& k, const Tensor& v,
                               const Visible& keys, const Result& r, double dropout,
                               std::optional<double> scale) {
  auto none = Tensor();
  auto [of_q, of_k, of_v, of_mask] = at::_scaled_dot_product_fused_attention_overrideable_backward(
      grad.transpose(1, 2), q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), keys.mask.value_or(none),
      {true, true, true, false}, r.out.transpose(1, 2), r.logsumexp, none, none, q.size(1), k.size(1),
      dropout, keys.causal, r.seed, r.offset, scale);
  return {of_q.transpose(1, 2), of_k.transpose(1, 2), of_v.transpose(1, 2)};
}

Causal causal_of(const char* name, std::int64_t kind) {
  TORCH_CHECK(kind >= 0 && kind <= 2, name, ": got custom_mask_type ", kind, ", expected 0, 1 or 2");
  return static_cast<Causal>(kind);
}

constexpr const char* efficient = "_efficient_attention_forward";
// Results of shape functions for tracing have room for whole blocks of queries.
constexpr std::int64_t block = 32;

std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt> efficient_forward(
    const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& bias,
    const OptionalTensor& starts_q, const OptionalTensor& starts_k, OptionalInt, OptionalInt, double dropout,
    std::int64_t kind, bool wants_logsumexp, std::optional<double> scale, const OptionalTensor& lengths_k,
    OptionalInt window) {
  auto guard = guard_for(q, k, v);
  check_layout(efficient, q, k, v, starts_q, starts_k);
  TORCH_CHECK_NOT_IMPLEMENTED(!given(lengths_k), efficient, ": xpu takes no seqlen_k; give a bias");
  check_window(efficient, window.value_or(0) > 0 ? window : std::nullopt, std::nullopt);
  auto r = forward(q, k, v, visible(q, k, bias, causal_of(efficient, kind)), dropout, scale);
  auto length = wants_logsumexp ? (q.size(1) + block - 1) / block * block : 0;
  auto logsumexp = at::full({q.size(0), q.size(2), length}, std::numeric_limits<double>::infinity(),
                            q.options().dtype(at::kFloat));
  if (wants_logsumexp) logsumexp.narrow(2, 0, q.size(1)).copy_(r.logsumexp);
  return {r.out, logsumexp, r.seed, r.offset, q.size(1), k.size(1)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_backward(
    const Tensor& grad, const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& bias,
    const Tensor& out, const OptionalTensor& starts_q, const OptionalTensor& starts_k, std::int64_t,
    std::int64_t, const Tensor& logsumexp, double dropout, const Tensor& seed, const Tensor& offset,
    std::int64_t kind, bool bias_requires_grad, std::optional<double> scale, OptionalInt, OptionalInt window,
    bool) {
  constexpr const char* name = "_efficient_attention_backward";
  auto guard = guard_for(grad, q, k, v);
  check_layout(name, q, k, v, starts_q, starts_k);
  check_window(name, window.value_or(0) > 0 ? window : std::nullopt, std::nullopt);
  TORCH_CHECK_NOT_IMPLEMENTED(!bias_requires_grad, name,
                              ": xpu's fused attention has no gradient of the "
                              "bias; scaled_dot_product_attention has");
  Result r{out, logsumexp.narrow(2, 0, q.size(1)).contiguous(), seed, offset};
  auto grads = backward(grad, q, k, v, visible(q, k, bias, causal_of(name, kind)), r, dropout, scale);
  return {grads[0], grads[1], grads[2], Tensor()};
}

constexpr const char* flash = "_flash_attention_forward";

// The last query sees all keys.
Visible flash_keys(const Tensor& q, const Tensor& k, bool causal) {
  return visible(q, k, {}, causal ? to_the_end : everywhere);
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> flash_forward(
    const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& starts_q,
    const OptionalTensor& starts_k, std::int64_t, std::int64_t, double dropout, bool causal, bool debug_mask,
    std::optional<double> scale, OptionalInt left, OptionalInt right, const OptionalTensor& lengths_k,
    const OptionalTensor& slopes, const OptionalTensor& blocks, OptionalInt) {
  auto guard = guard_for(q, k, v);
  check_layout(flash, q, k, v, starts_q, starts_k);
  check_window(flash, left, right);
  TORCH_CHECK_NOT_IMPLEMENTED(!debug_mask, flash, ": xpu's attention gives no debug mask");
  TORCH_CHECK_NOT_IMPLEMENTED(!given(lengths_k) && !given(slopes) && !given(blocks), flash,
                              ": xpu takes no seqused_k, alibi_slopes or block_table");
  auto r = forward(q, k, v, flash_keys(q, k, causal), dropout, scale);
  auto numbers = at::empty({2}, at::kLong);
  numbers[0].copy_(r.seed);
  numbers[1].copy_(r.offset);
  auto unused = at::empty({}, q.options().dtype(at::kUInt64));
  return {r.out, r.logsumexp, numbers.view(at::kUInt64), unused, at::empty({0}, q.options())};
}

std::tuple<Tensor, Tensor, Tensor> flash_backward(const Tensor& grad, const Tensor& q, const Tensor& k,
                                                  const Tensor& v, const Tensor& out, const Tensor& logsumexp,
                                                  const Tensor& starts_q, const Tensor& starts_k,
                                                  std::int64_t, std::int64_t, double dropout, bool causal,
                                                  const Tensor& random, const Tensor&,
                                                  std::optional<double> scale, OptionalInt left,
                                                  OptionalInt right) {
  constexpr const char* name = "_flash_attention_backward";
  auto guard = guard_for(grad, q, k, v);
  check_layout(name, q, k, v, starts_q, starts_k);
  check_window(name, left, right);
  auto numbers = random.view(at::kLong);
  auto grads = backward(grad, q, k, v, flash_keys(q, k, causal), {out, logsumexp, numbers[0], numbers[1]},
                        dropout, scale);
  return {grads[0], grads[1], grads[2]};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_efficient_attention_forward", efficient_forward);
  m.impl("_efficient_attention_backward", efficient_backward);
  m.impl("_flash_attention_forward", flash_forward);
  m.impl("_flash_attention_backward", flash_backward);
}

}  // namespace torch_xpu

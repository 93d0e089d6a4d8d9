// Fused attention under the names that take [batch, positions, heads, size].
#include <ATen/core/Tensor.h>
#include <ATen/ops/_jagged_to_padded_dense_forward.h>
#include <ATen/ops/_padded_dense_to_jagged_forward.h>
#include <ATen/ops/_scaled_dot_product_fused_attention_overrideable.h>
#include <ATen/ops/_scaled_dot_product_fused_attention_overrideable_backward.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/minimum.h>
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

void check_layout(const char* name, const Tensor& q, const Tensor& k, const Tensor& v) {
  check_one_device(q, k, v);
  for (auto& t : {q, k, v})
    TORCH_CHECK(t.dim() == 4, name, ": expected [batch, positions, heads, size], got sizes ", t.sizes());
}

// Whether the window of keys is all of those before.
bool check_window(const char* name, OptionalInt left, OptionalInt right) {
  TORCH_CHECK_NOT_IMPLEMENTED(left.value_or(-1) < 0 && right.value_or(-1) <= 0, name,
                              ": xpu's attention has no window of keys; give a mask");
  return right.value_or(-1) == 0;
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

// Sequences one after another, [positions, heads, size], where each begins, and the longest one's length.
// Attention is computed of sequences padded to that.
struct Sequences {
  Tensor starts;
  std::int64_t longest;
  OptionalTensor used = {};  // how many of each one's positions there are; all by default

  Tensor padded(const Tensor& t, double padding = 0) const {
    auto rows = at::_jagged_to_padded_dense_forward(t.flatten(1), {starts}, {longest}, padding);
    return rows.unflatten(2, t.sizes().slice(1));
  }
  Tensor packed(const Tensor& t, std::int64_t positions) const {
    auto rows = at::_padded_dense_to_jagged_forward(t.flatten(2), {starts}, positions);
    return rows.unflatten(1, t.sizes().slice(2));
  }
  Tensor lengths() const { return (given(used) ? used->to(at::kLong) : starts.diff()).view({-1, 1, 1, 1}); }
};

// Padding is no key; besides, the first or the last positions of a sequence's queries and keys correspond.
Visible visible(const Sequences& q, const Sequences& k, Causal causal) {
  auto place = [&](std::int64_t count) { return at::arange(count, q.starts.options()); };
  auto end = k.lengths();
  if (causal != everywhere) {
    auto last = place(q.longest).add_(1).unsqueeze(1);
    end = at::minimum(end, causal == to_the_end ? last.add(end.sub(q.lengths())) : last);
  }
  return {at::lt(place(k.longest), end)};
}

struct Packed {
  Sequences q, k;

  Packed(const char* name, const OptionalTensor& starts_q, const OptionalTensor& starts_k, OptionalInt max_q,
         OptionalInt max_k, const Tensor& like) {
    TORCH_CHECK(given(starts_q) && given(starts_k) && max_q && max_k, name,
                ": packed sequences need cumulative lengths and the longest one of queries and keys");
    check_one_device(like, *starts_q, *starts_k);
    TORCH_CHECK(starts_q->dim() == 1 && starts_q->sizes() == starts_k->sizes(), name,
                ": expected as many sequences of queries as of keys, got cumulative lengths ",
                starts_q->sizes(), " and ", starts_k->sizes());
    q = {starts_q->to(at::kLong), *max_q};
    k = {starts_k->to(at::kLong), *max_k};
  }
};

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

// The same of packed sequences; the logsumexp is padded.
std::array<Tensor, 3> backward(const Packed& p, const Tensor& grad, const Tensor& q, const Tensor& k,
                               const Tensor& v, Causal causal, const Result& r, double dropout,
                               std::optional<double> scale) {
  auto grads =
      backward(p.q.padded(grad), p.q.padded(q), p.k.padded(k), p.k.padded(v), visible(p.q, p.k, causal),
               {p.q.padded(r.out), r.logsumexp, r.seed, r.offset}, dropout, scale);
  return {p.q.packed(grads[0], q.size(0)), p.k.packed(grads[1], k.size(0)), p.k.packed(grads[2], k.size(0))};
}

void check_packed(const char* name, const Tensor& q, const Tensor& k, const OptionalTensor& bias) {
  TORCH_CHECK(q.size(0) == 1 && k.size(0) == 1, name,
              ": expected a batch of one with cumulative lengths, got ", q.size(0), " and ", k.size(0));
  TORCH_CHECK_NOT_IMPLEMENTED(!given(bias), name, ": xpu takes no bias for packed sequences");
}

Causal causal_of(const char* name, std::int64_t kind) {
  TORCH_CHECK(kind >= 0 && kind <= 2, name, ": got custom_mask_type ", kind, ", expected 0, 1 or 2");
  return static_cast<Causal>(kind);
}

constexpr const char* efficient = "_efficient_attention_forward";
// Results of shape functions for tracing have room for whole blocks of queries.
constexpr std::int64_t block = 32;

std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt> efficient_forward(
    const Tensor& q_, const Tensor& k_, const Tensor& v_, const OptionalTensor& bias,
    const OptionalTensor& starts_q, const OptionalTensor& starts_k, OptionalInt max_q, OptionalInt max_k,
    double dropout, std::int64_t kind, bool wants_logsumexp, std::optional<double> scale,
    const OptionalTensor& lengths_k, OptionalInt window) {
  auto guard = guard_for(q_, k_, v_);
  check_layout(efficient, q_, k_, v_);
  TORCH_CHECK_NOT_IMPLEMENTED(!given(lengths_k), efficient, ": xpu takes no seqlen_k; give a bias");
  check_window(efficient, window.value_or(0) > 0 ? window : std::nullopt, std::nullopt);
  auto causal = causal_of(efficient, kind);
  auto q = q_, k = k_, v = v_;
  Visible keys;
  std::optional<Packed> packed;
  if (given(starts_q) || given(starts_k)) {
    packed.emplace(efficient, starts_q, starts_k, max_q, max_k, q);
    check_packed(efficient, q, k, bias);
    q = packed->q.padded(q[0]);
    k = packed->k.padded(k[0]);
    v = packed->k.padded(v[0]);
    keys = visible(packed->q, packed->k, causal);
  } else {
    keys = visible(q, k, bias, causal);
  }
  auto r = forward(q, k, v, keys, dropout, scale);
  auto length = wants_logsumexp ? (q.size(1) + block - 1) / block * block : 0;
  auto logsumexp = at::full({q.size(0), q.size(2), length}, std::numeric_limits<double>::infinity(),
                            q.options().dtype(at::kFloat));
  if (wants_logsumexp) logsumexp.narrow(2, 0, q.size(1)).copy_(r.logsumexp);
  if (packed) r.out = packed->q.packed(r.out, q_.size(1)).unsqueeze(0);
  // PyTorch's shape function promises these strides to compiled code.
  return {r.out.contiguous(), logsumexp, r.seed, r.offset, q.size(1), k.size(1)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_backward(
    const Tensor& grad, const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& bias,
    const Tensor& out, const OptionalTensor& starts_q, const OptionalTensor& starts_k, std::int64_t max_q,
    std::int64_t max_k, const Tensor& logsumexp, double dropout, const Tensor& seed, const Tensor& offset,
    std::int64_t kind, bool bias_requires_grad, std::optional<double> scale, OptionalInt, OptionalInt window,
    bool) {
  constexpr const char* name = "_efficient_attention_backward";
  auto guard = guard_for(grad, q, k, v);
  check_layout(name, q, k, v);
  check_window(name, window.value_or(0) > 0 ? window : std::nullopt, std::nullopt);
  TORCH_CHECK_NOT_IMPLEMENTED(!bias_requires_grad, name,
                              ": xpu's fused attention has no gradient of the "
                              "bias; scaled_dot_product_attention has");
  auto causal = causal_of(name, kind);
  if (given(starts_q) || given(starts_k)) {
    Packed p(name, starts_q, starts_k, max_q, max_k, q);
    check_packed(name, q, k, bias);
    auto rows = logsumexp.narrow(2, 0, p.q.longest).contiguous();
    auto grads = backward(p, grad[0], q[0], k[0], v[0], causal, {out[0], rows, seed, offset}, dropout, scale);
    return {grads[0].unsqueeze(0), grads[1].unsqueeze(0), grads[2].unsqueeze(0), Tensor()};
  }
  Result r{out, logsumexp.narrow(2, 0, q.size(1)).contiguous(), seed, offset};
  auto grads = backward(grad, q, k, v, visible(q, k, bias, causal), r, dropout, scale);
  return {grads[0], grads[1], grads[2], Tensor()};
}

constexpr const char* flash = "_flash_attention_forward";

Causal flash_causal(bool causal) {
  return causal ? to_the_end : everywhere;
}

void check_rows(const char* name, const Tensor& q, const Tensor& k, const Tensor& v) {
  check_one_device(q, k, v);
  for (auto& t : {q, k, v})
    TORCH_CHECK(t.dim() == 3, name, ": expected [positions, heads, size] with cumulative lengths, got sizes ",
                t.sizes());
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> flash_forward(
    const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& starts_q,
    const OptionalTensor& starts_k, std::int64_t max_q, std::int64_t max_k, double dropout, bool causal,
    bool debug_mask, std::optional<double> scale, OptionalInt left, OptionalInt right,
    const OptionalTensor& lengths_k, const OptionalTensor& slopes, const OptionalTensor& blocks,
    OptionalInt) {
  auto guard = guard_for(q, k, v);
  causal = check_window(flash, left, right) || causal;
  TORCH_CHECK_NOT_IMPLEMENTED(!debug_mask, flash, ": xpu's attention gives no debug mask");
  TORCH_CHECK_NOT_IMPLEMENTED(!given(slopes) && !given(blocks), flash,
                              ": xpu takes no alibi_slopes or block_table");
  Result r;
  if (given(starts_q) || given(starts_k)) {
    check_rows(flash, q, k, v);
    Packed p(flash, starts_q, starts_k, max_q, max_k, q);
    p.k.used = lengths_k;
    r = forward(p.q.padded(q), p.k.padded(k), p.k.padded(v), visible(p.q, p.k, flash_causal(causal)), dropout,
                scale);
    r.out = p.q.packed(r.out, q.size(0));
    // [heads, positions]
    r.logsumexp = p.q.packed(r.logsumexp.transpose(1, 2), q.size(0)).t().contiguous();
  } else {
    TORCH_CHECK_NOT_IMPLEMENTED(!given(lengths_k), flash, ": xpu takes seqused_k of packed sequences only");
    check_layout(flash, q, k, v);
    r = forward(q, k, v, visible(q, k, {}, flash_causal(causal)), dropout, scale);
  }
  auto numbers = at::empty({2}, at::kLong);
  numbers[0].copy_(r.seed);
  numbers[1].copy_(r.offset);
  auto unused = at::empty({}, q.options().dtype(at::kUInt64));
  return {r.out, r.logsumexp, numbers.view(at::kUInt64), unused, at::empty({0}, q.options())};
}

std::tuple<Tensor, Tensor, Tensor> flash_backward(const Tensor& grad, const Tensor& q, const Tensor& k,
                                                  const Tensor& v, const Tensor& out, const Tensor& logsumexp,
                                                  const Tensor& starts_q, const Tensor& starts_k,
                                                  std::int64_t max_q, std::int64_t max_k, double dropout,
                                                  bool causal, const Tensor& random, const Tensor&,
                                                  std::optional<double> scale, OptionalInt left,
                                                  OptionalInt right) {
  constexpr const char* name = "_flash_attention_backward";
  auto guard = guard_for(grad, q, k, v);
  causal = check_window(name, left, right) || causal;
  auto numbers = random.view(at::kLong);
  std::array<Tensor, 3> grads;
  if (starts_q.defined() || starts_k.defined()) {
    check_rows(name, q, k, v);
    Packed p(name, starts_q, starts_k, max_q, max_k, q);
    // What padding attends to is nothing.
    auto rows =
        p.q.padded(logsumexp.t(), std::numeric_limits<double>::infinity()).transpose(1, 2).contiguous();
    grads =
        backward(p, grad, q, k, v, flash_causal(causal), {out, rows, numbers[0], numbers[1]}, dropout, scale);
  } else {
    check_layout(name, q, k, v);
    grads = backward(grad, q, k, v, visible(q, k, {}, flash_causal(causal)),
                     {out, logsumexp, numbers[0], numbers[1]}, dropout, scale);
  }
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

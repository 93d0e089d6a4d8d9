// Attention under vmap: the mapped dimension becomes part of the batch.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/ops/_scaled_dot_product_fused_attention_overrideable.h>
#include <ATen/ops/_scaled_dot_product_fused_attention_overrideable_backward.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/scaled_dot_product_attention_native.h>
#include <torch/library.h>

#include "ops/arguments.h"
#include "ops/dnn/attention.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using at::functorch::maybeGetBatchedImpl;
using OptionalTensor = std::optional<Tensor>;

// A random number asks vmap whether it may be drawn, and comes back mapped when each sample has its own.
void check_dropout(double dropout) {
  if (dropout == 0) return;
  auto drawn = at::rand({1}, at::detail::createCPUGenerator(), at::TensorOptions(at::kCPU));
  TORCH_CHECK_NOT_IMPLEMENTED(at::functorch::isBatchedTensor(drawn),
                              "vmap: xpu's attention cannot drop the same weights of all samples; use "
                              "randomness='different'");
}

// The innermost vmap that any of the tensors belongs to.
class Level {
 public:
  explicit Level(std::initializer_list<Tensor> tensors) : guard_(at::DispatchKey::FuncTorchBatched) {
    for (auto& t : tensors) {
      auto* batched = t.defined() ? maybeGetBatchedImpl(t) : nullptr;
      if (!batched || batched->level() < level_) continue;
      level_ = batched->level();
      size_ = batched->value().size(batched->bdim());
    }
  }

  // With the mapped dimension first; of size 1 where there is none.
  Tensor unwrapped(const Tensor& t) const {
    auto* batched = maybeGetBatchedImpl(t);
    bool mapped = batched && batched->level() == level_;
    return mapped ? batched->value().movedim(batched->bdim(), 0) : t.unsqueeze(0);
  }

  Tensor folded(const Tensor& t) const {
    auto value = unwrapped(t);
    auto sizes = value.sizes().vec();
    sizes[0] = size_;
    return value.expand(sizes).flatten(0, 1);
  }

  // A mask spreads over the batch as it is where it has none of its own.
  OptionalTensor folded_mask(const OptionalTensor& mask, std::int64_t batch) const {
    if (!given(mask)) return {};
    auto value = unwrapped(*mask);
    while (value.dim() < 5) value = value.unsqueeze(1);
    if (value.size(0) == 1 && value.size(1) == 1) return value.squeeze(0);
    return value.expand({size_, batch, -1, -1, -1}).flatten(0, 1);
  }

  Tensor unfolded(const Tensor& t) const {
    return at::functorch::makeBatched(t.unflatten(0, {size_, t.size(0) / size_}), 0, level_);
  }

 private:
  c10::impl::ExcludeDispatchKeyGuard guard_;
  std::int64_t level_ = 0, size_ = 1;
};

using Fused = std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt, Tensor, Tensor, Tensor>;

Fused batched_attention(const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& mask,
                        double dropout, bool causal, bool debug_mask, std::optional<double> scale) {
  auto batch = q.size(0);
  check_dropout(dropout);
  Level level({q, k, v, mask.value_or(Tensor())});
  auto r = at::_scaled_dot_product_fused_attention_overrideable(
      level.folded(q), level.folded(k), level.folded(v), level.folded_mask(mask, batch), dropout, causal,
      debug_mask, scale);
  std::get<0>(r) = level.unfolded(std::get<0>(r));
  std::get<1>(r) = level.unfolded(std::get<1>(r));
  return r;
}

std::tuple<Tensor, Tensor, Tensor, Tensor> batched_attention_backward(
    const Tensor& grad, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
    std::array<bool, 4> wanted, const Tensor& out, const Tensor& logsumexp, const Tensor& starts_q,
    const Tensor& starts_k, std::int64_t max_q, std::int64_t max_k, double dropout, bool causal,
    const Tensor& seed, const Tensor& offset, std::optional<double> scale) {
  auto batch = q.size(0);
  Level level({grad, q, k, v, mask, out, logsumexp});
  auto [of_q, of_k, of_v, of_mask] = at::_scaled_dot_product_fused_attention_overrideable_backward(
      level.folded(grad), level.folded(q), level.folded(k), level.folded(v),
      level.folded_mask(mask, batch).value_or(Tensor()), wanted, level.folded(out), level.folded(logsumexp),
      starts_q, starts_k, max_q, max_k, dropout, causal, seed, offset, scale);
  return {level.unfolded(of_q), level.unfolded(of_k), level.unfolded(of_v), of_mask};
}

// PyTorch's own asks a table that has no place for xpu which kernel to use.
Tensor vmapped_attention(const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& mask,
                         double dropout, bool causal, std::optional<double> scale, bool gqa) {
  auto* chosen = q.is_xpu() ? scaled_dot_product_attention : at::native::scaled_dot_product_attention;
  return chosen(q, k, v, mask, dropout, causal, scale, gqa);
}

struct Silence final : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

// Registering in the place of PyTorch's kernel warns, which only who reads this needs to know.
torch::Library replaced = [] {
  Silence silence;
  c10::WarningUtils::WarningHandlerGuard guard(&silence);
  torch::Library library(torch::Library::IMPL, "aten", at::DispatchKey::FuncTorchVmapMode, __FILE__,
                         __LINE__);
  library.impl("scaled_dot_product_attention", vmapped_attention);
  return library;
}();

}  // namespace

TORCH_LIBRARY_IMPL(aten, FuncTorchBatched, m) {
  m.impl("scaled_dot_product_attention", vmapped_attention);
  m.impl("_scaled_dot_product_fused_attention_overrideable", batched_attention);
  m.impl("_scaled_dot_product_fused_attention_overrideable_backward", batched_attention_backward);
}

}  // namespace torch_xpu

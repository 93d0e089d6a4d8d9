// The fused paths of PyTorch's Transformer modules under autocast. The modules leave them under CUDA's
// autocast only: the function that they ask does not know of xpu's.
#include <ATen/autocast_mode.h>
#include <ATen/ops/_native_multi_head_attention_ops.h>
#include <ATen/ops/_transformer_encoder_layer_fwd_ops.h>
#include <torch/library.h>

namespace torch_xpu {
namespace {

using at::Tensor;

template <class T>
decltype(auto) cast(at::ScalarType type, const T& argument) {
  if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, std::optional<Tensor>>)
    return at::autocast::cached_cast(type, argument, at::kXPU);
  else
    return argument;
}

// Computes in autocast's type. The modules' other path ends in a norm, whose result is f32.
template <auto* op, bool result_is_f32>
struct Autocast;
template <class Result, class... Args, Result (*op)(Args...), bool result_is_f32>
struct Autocast<op, result_is_f32> {
  static Result call(Args... args) {
    c10::impl::ExcludeDispatchKeyGuard without_autocast(c10::DispatchKey::AutocastXPU);
    auto type = at::autocast::get_autocast_dtype(at::kXPU);
    if constexpr (result_is_f32)
      return op(cast(type, args)...).to(at::kFloat);
    else
      return op(cast(type, args)...);
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(aten, AutocastXPU, m) {
  m.impl("_transformer_encoder_layer_fwd",
         Autocast<&at::_ops::_transformer_encoder_layer_fwd::call, true>::call);
  m.impl("_native_multi_head_attention",
         Autocast<&at::_ops::_native_multi_head_attention::call, false>::call);
}

}  // namespace torch_xpu

// Nested tensors of the strided layout: their values one after the other in a buffer, their sizes on the
// host.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/nested/NestedTensorUtils.h>
#include <ATen/ops/_nested_from_padded_native.h>
#include <ATen/ops/_nested_tensor_from_mask_left_aligned_native.h>
#include <ATen/ops/_nested_tensor_from_mask_native.h>
#include <ATen/ops/_nested_view_from_buffer_native.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/_transform_bias_rescale_qkv.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/scaled_dot_product_attention_native.h>
#include <ATen/ops/to_padded_tensor_native.h>
#include <torch/library.h>

#include <array>
#include <set>
#include <string>
#include <tuple>

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;
using MaybeTensor = const std::optional<Tensor>&;
using at::native::get_nested_tensor_impl;

// PyTorch's functions for the CPU that only call other operators, on the buffer or on each tensor.
void as_on_the_cpu(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::NestedTensorCPU), stack);
}

// Which of them do not: they read the buffer on the host, or launch a kernel by the name of the device.
const std::set<std::string>& not_as_on_the_cpu() {
  static const std::set<std::string> names{"aten::sum.dim_IntList",
                                           "aten::_nested_sum_backward",
                                           "aten::native_layer_norm",
                                           "aten::native_layer_norm_backward",
                                           "aten::is_pinned",
                                           "aten::_pin_memory",
                                           "aten::_transform_bias_rescale_qkv"};
  return names;
}

/// The buffer as rows of the normalized shape, which all tensors end in.
Tensor rows_of(const Tensor& x, IntArrayRef normalized) {
  auto outer_dims = x.dim() - static_cast<std::int64_t>(normalized.size());
  TORCH_CHECK(!normalized.empty() && outer_dims >= 1, "native_layer_norm: ", normalized.size(),
              " normalized dimensions of nested tensors with ", x.dim() - 1);
  for (std::int64_t d = outer_dims; d < x.dim(); ++d)
    TORCH_CHECK(get_nested_tensor_impl(x)->opt_size(d) == normalized[d - outer_dims],
                "native_layer_norm: expected nested tensors of size ", normalized[d - outer_dims],
                " in dimension ", d);
  auto shape = normalized.vec();
  shape.insert(shape.begin(), -1);
  return get_nested_tensor_impl(x.contiguous())->get_buffer().view(shape);
}

Tensor like(const Tensor& x, const Tensor& rows) {
  return at::native::wrap_buffer(rows.flatten(), get_nested_tensor_impl(x)->get_nested_sizes());
}

std::tuple<Tensor, Tensor, Tensor> layer_norm(const Tensor& x, IntArrayRef normalized, MaybeTensor weight,
                                              MaybeTensor bias, double epsilon) {
  auto [y, mean, rstd] = at::native_layer_norm(rows_of(x, normalized), normalized, weight, bias, epsilon);
  return {like(x, y), mean, rstd};
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_backward(const Tensor& gradient, const Tensor& x,
                                                       IntArrayRef normalized, const Tensor& mean,
                                                       const Tensor& rstd, MaybeTensor weight,
                                                       MaybeTensor bias, std::array<bool, 3> wanted) {
  auto [dx, dweight, dbias] = at::native_layer_norm_backward(
      rows_of(gradient, normalized), rows_of(x, normalized), normalized, mean, rstd, weight, bias, wanted);
  return {wanted[0] ? like(x, dx) : dx, dweight, dbias};
}

/// Attention's parts are dense, with zeros for what is missing.
std::tuple<Tensor, Tensor, Tensor> split_heads(const Tensor& qkv, const Tensor& bias, std::int64_t heads) {
  return at::_transform_bias_rescale_qkv(at::native::NestedTensor_to_padded_tensor_generic(qkv, 0), bias,
                                         heads);
}

/// PyTorch's own would ask for a kernel that only its own builds for xpu can have.
Tensor nested_attention(const Tensor& q, const Tensor& k, const Tensor& v, MaybeTensor mask, double dropout,
                        bool causal, std::optional<double> scale, bool gqa) {
  if (!q.is_xpu())
    return at::native::scaled_dot_product_attention(q, k, v, mask, dropout, causal, scale, gqa);
  TORCH_CHECK(!mask, "scaled_dot_product_attention: nested tensors take no attn_mask");
  return std::get<0>(at::_scaled_dot_product_attention_math(q, k, v, mask, dropout, causal, {}, scale, gqa));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, NestedTensorXPU, m) {
  using c10::DispatchKey;
  for (const auto& name :
       c10::Dispatcher::singleton().getRegistrationsForDispatchKey(DispatchKey::NestedTensorCPU)) {
    auto text = toString(name);
    if (text.rfind("aten::", 0) == 0 && !not_as_on_the_cpu().count(text))
      m.impl(text.c_str(), torch::CppFunction::makeFromBoxedFunction<&as_on_the_cpu>());
  }
  m.impl("native_layer_norm", layer_norm);
  m.impl("native_layer_norm_backward", layer_norm_backward);
  m.impl("_transform_bias_rescale_qkv", split_heads);
  m.impl("scaled_dot_product_attention", nested_attention);
}

TORCH_LIBRARY_IMPL(aten, AutogradNestedTensor, m) {
  m.impl("scaled_dot_product_attention", nested_attention);
}

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_nested_from_padded", at::native::nested_from_padded_generic);
  m.impl("_nested_tensor_from_mask", at::native::NestedTensor_nested_tensor_from_mask);
  m.impl("_nested_tensor_from_mask_left_aligned",
         at::native::NestedTensor_nested_tensor_from_mask_left_aligned);
  m.impl("_nested_view_from_buffer", at::native::_nested_view_from_buffer);
}

}  // namespace torch_xpu

// What torch.nn.TransformerEncoderLayer and MultiheadAttention call in place of their parts in inference.
#include <ATen/ops/_native_multi_head_attention_native.h>
#include <ATen/ops/_transformer_encoder_layer_fwd_native.h>
#include <ATen/ops/add.h>
#include <torch/library.h>

#include <cmath>
#include <tuple>

#include "ops/arguments.h"

namespace torch_xpu {
namespace {

using at::Tensor;

/// Queries, keys and values as [batch, heads, length, size], of which the queries are scaled.
std::tuple<Tensor, Tensor, Tensor> split_heads(const Tensor& qkv, const Tensor& bias, std::int64_t heads) {
  auto guard = guard_for(qkv, bias);
  check_one_device(qkv, bias);
  auto batch = qkv.size(0), length = qkv.size(1), width = qkv.size(2);
  TORCH_CHECK(width % 3 == 0 && width / 3 % heads == 0, "_transform_bias_rescale_qkv: ", width,
              " columns are not 3 times a multiple of ", heads, " heads");
  auto size = width / 3 / heads;
  auto parts = qkv.add(bias).view({batch, length, 3, heads, size}).permute({2, 0, 3, 1, 4}).contiguous();
  parts[0].mul_(1 / std::sqrt(static_cast<double>(size)));
  return std::make_tuple(parts[0], parts[1], parts[2]);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_transform_bias_rescale_qkv", split_heads);
  // These only call other operators.
  m.impl("_native_multi_head_attention", at::native::native_multi_head_attention_cpu);
  m.impl("_transformer_encoder_layer_fwd", at::native::transformer_encoder_layer_forward);
}

}  // namespace torch_xpu

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::dnn {

struct PoolOptions {
  /// Averages divide by the window's size, or by how much of the window lies in the source.
  enum class Kind { max, average_include_padding, average_exclude_padding } kind;
  /// One for each spatial dimension; empty means stride = kernel, no padding, dilation 1 (dense).
  std::vector<std::int64_t> kernel = {}, stride = {}, padding_l = {}, padding_r = {}, dilation = {};
};

/// Shapes are N C [D [H]] W with any strides. Max pooling leaves in `workspace`, contiguous i32 of as many
/// elements as `dst`, what its backward needs.
XPU_API void pool(Stream stream, const Tensor& src, const Tensor& dst, const PoolOptions& options,
                  const std::optional<Tensor>& workspace = {});
XPU_API void pool_backward(Stream stream, const Tensor& grad_dst, const Tensor& grad_src,
                           const PoolOptions& options, const std::optional<Tensor>& workspace = {});

}  // namespace xpu::dnn

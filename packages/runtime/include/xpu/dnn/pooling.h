#pragma once

#include <cstddef>
#include <cstdint>
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

/// Bytes of the workspace in which max pooling leaves what its backward needs; 0 for averages.
XPU_API std::size_t pool_workspace_bytes(const Tensor& dst, const PoolOptions& options);
/// Shapes are N C [D [H]] W with any strides.
XPU_API void pool(Stream stream, const Tensor& src, const Tensor& dst, const PoolOptions& options,
                  void* workspace = nullptr);
XPU_API void pool_backward(Stream stream, const Tensor& grad_dst, const Tensor& grad_src,
                           const PoolOptions& options, const void* workspace = nullptr);

}  // namespace xpu::dnn

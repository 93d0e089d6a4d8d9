#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "xpu/abi.h"
#include "xpu/dnn/attributes.h"
#include "xpu/dnn/packed_weights.h"
#include "xpu/stream.h"

namespace xpu::dnn {

struct ConvOptions {
  /// One for each spatial dimension; empty means 1, 0, 0 and 1. A dilation of 1 is dense.
  std::vector<std::int64_t> stride = {}, padding_l = {}, padding_r = {}, dilation = {};
  std::int64_t groups = 1;
  bool transposed = false;
  std::optional<Tensor> bias = {};                ///< one value a channel; forward only
  std::vector<PostOp> post_ops = {};              ///< forward only
  Quantization src = {}, weights = {}, dst = {};  ///< forward only
  bool deterministic = false;
  bool allow_tf32 = false;
  /// Of the weights, if their numbers never change; must outlive the call. Forward only.
  PackedWeights* packed_weights = nullptr;
  /// Promises that the source is u8 and has no number over 127. oneDNN's sums are then exact on CPUs without
  /// VNNI, too.
  bool small_src = false;
};

/// Shapes are N C [D [H]] W with any strides, so channels-last too. Weights are O I/g K..., and I O/g K...
/// when transposed. Padding may be negative only as far as a window still touches the source.
XPU_API void convolution(Stream stream, const Tensor& src, const Tensor& weights, const Tensor& dst,
                         const ConvOptions& options);
XPU_API void convolution_backward_data(Stream stream, const Tensor& grad_dst, const Tensor& weights,
                                       const Tensor& grad_src, const ConvOptions& options);
/// `grad_bias`, one value a channel, is computed when given.
XPU_API void convolution_backward_weights(Stream stream, const Tensor& src, const Tensor& grad_dst,
                                          const Tensor& grad_weights, const std::optional<Tensor>& grad_bias,
                                          const ConvOptions& options);

}  // namespace xpu::dnn

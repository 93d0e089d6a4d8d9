// Matrix work: oneDNN primitives on our streams and memory, with a plain SYCL kernel behind each that always works.
//
// Every problem has an ordered list of candidates; the first that accepts runs. `explain` says who was refused and why.
// Scratch memory comes from the pool; primitives are cached by the whole problem.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::dnn {

/// One step applied to the result before it is stored, in order.
struct PostOp {
  enum class Kind { relu, gelu_erf, gelu_tanh, silu, tanh, sigmoid, abs, sqrt, square, elu, clip, linear, hardswish,
                    add, mul, sub, div, max, min, sum } kind;
  float alpha = 0, beta = 0;           ///< parameters of the elementwise kinds; sum scales by alpha
  std::optional<Tensor> operand = {};  ///< of the binary kinds; broadcasts against the result
};

/// Scales and zero points of one operand. Empty mask: one value for all. `groups` for grouped (int4) weights.
struct Quantization {
  std::optional<Tensor> scale, zero_point;
  int mask = 0;                          ///< bit i: differs along dimension i
  std::vector<std::int64_t> groups = {};  ///< elements sharing a value along the last two dimensions
};

struct MatmulOptions {
  std::optional<Tensor> bias = {};
  std::vector<PostOp> post_ops = {};
  Quantization a = {}, b = {}, c = {};
  bool deterministic = false;
  /// May f32 go through bf16/tf32: "strict" or "any"
  bool allow_tf32 = false;
};
/// c = post_ops(a @ b + bias); batch dimensions broadcast; any strides.
XPU_API void matmul(Stream stream, const Tensor& a, const Tensor& b, const Tensor& c, const MatmulOptions& options = {});

struct ConvOptions {
  std::vector<std::int64_t> stride, padding_l, padding_r, dilation;  ///< one for each spatial dimension; dilation 1 is dense
  std::int64_t groups = 1;
  bool transposed = false;
  std::optional<Tensor> bias = {};
  std::vector<PostOp> post_ops = {};
  Quantization src = {}, weights = {}, dst = {};
  bool deterministic = false;
};
/// Shapes N C D H W (1 to 3 spatial dimensions) with any strides (so channels-last too); weights O I/g K...
XPU_API void convolution(Stream stream, const Tensor& src, const Tensor& weights, const Tensor& dst, const ConvOptions& options);
XPU_API void convolution_backward_data(Stream stream, const Tensor& grad_dst, const Tensor& weights, const Tensor& grad_src, const ConvOptions& options);
XPU_API void convolution_backward_weights(Stream stream, const Tensor& src, const Tensor& grad_dst, const Tensor& grad_weights,
                                          const std::optional<Tensor>& grad_bias, const ConvOptions& options);

struct PoolOptions {
  enum class Kind { max, average_include_padding, average_exclude_padding } kind;
  std::vector<std::int64_t> kernel, stride, padding_l, padding_r, dilation;
};
/// `workspace` (max pooling for training) receives what the backward needs; its size is pool_workspace_bytes().
XPU_API std::size_t pool_workspace_bytes(Stream stream, const Tensor& src, const Tensor& dst, const PoolOptions& options);
XPU_API void pool(Stream stream, const Tensor& src, const Tensor& dst, const PoolOptions& options, void* workspace = nullptr);
XPU_API void pool_backward(Stream stream, const Tensor& grad_dst, const Tensor& grad_src, const PoolOptions& options, const void* workspace);

/// y = (x - mean) * rstd * weight + bias over the last dimension (layer) or per channel (batch).
/// With `training` mean and variance are outputs, otherwise inputs (batch norm) or computed (layer norm).
XPU_API void layer_norm(Stream stream, const Tensor& x, const Tensor& y, const std::optional<Tensor>& weight,
                        const std::optional<Tensor>& bias, const std::optional<Tensor>& mean,
                        const std::optional<Tensor>& variance, float epsilon, bool training);
XPU_API void batch_norm(Stream stream, const Tensor& x, const Tensor& y, const std::optional<Tensor>& weight,
                        const std::optional<Tensor>& bias, const Tensor& mean, const Tensor& variance, float epsilon,
                        bool training);
XPU_API void softmax(Stream stream, const Tensor& x, const Tensor& y, int axis, bool log);
/// Copies between layouts and types, with scales; the strided general case is xpu/kernels/copy.
XPU_API void reorder(Stream stream, const Tensor& src, const Tensor& dst, const Quantization& quantization = {});

struct RnnOptions {
  enum class Kind { lstm, gru, gru_linear_before_reset, tanh, relu } kind;
  enum class Direction { left_to_right, right_to_left, both_concat, both_sum } direction = Direction::left_to_right;
};
/// oneDNN's layouts: src T N C; states L D N C; weights L D I G O; bias L D G O. cell states for LSTM only.
XPU_API void rnn(Stream stream, const Tensor& src, const Tensor& weights_layer, const Tensor& weights_iter, const Tensor& bias,
                 const std::optional<Tensor>& state0, const std::optional<Tensor>& cell0, const Tensor& dst,
                 const std::optional<Tensor>& state, const std::optional<Tensor>& cell, const RnnOptions& options);

/// softmax(q k^T * scale + mask) v, with q k v N H S D; k and v may have fewer heads (grouped queries).
struct AttentionOptions {
  float scale = 1;
  bool causal = false;
  std::optional<Tensor> mask = {};
};
XPU_API void attention(Stream stream, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out, const AttentionOptions& options);

/// The candidates of the last call on this thread: "onednn brg_matmul:avx512_core: used", "onednn: refused (...)".
XPU_API std::vector<std::string> explain();
/// Entries, hits and misses of the primitive cache.
struct CacheStats {
  std::size_t entries = 0, hits = 0, misses = 0;
};
XPU_API CacheStats cache_stats();
XPU_API void clear_cache();

}  // namespace xpu::dnn

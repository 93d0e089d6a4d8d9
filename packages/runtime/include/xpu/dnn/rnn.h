#pragma once

#include <optional>

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::dnn {

struct RnnOptions {
  enum class Kind { lstm, gru, gru_linear_before_reset, tanh, relu } kind;
  enum class Direction {
    left_to_right,
    right_to_left,
    both_concat,
    both_sum
  } direction = Direction::left_to_right;
};

/// All layers and directions in one call. src T N C; states L D N C; weights L D I G O; bias L D G O (G + 1
/// for gru_linear_before_reset); cell states for LSTM only. Gates in oneDNN's order: i f c o for LSTM, u r o
/// for GRU.
XPU_API void rnn(Stream stream, const Tensor& src, const Tensor& weights_layer, const Tensor& weights_iter,
                 const Tensor& bias, const std::optional<Tensor>& state0, const std::optional<Tensor>& cell0,
                 const Tensor& dst, const std::optional<Tensor>& state, const std::optional<Tensor>& cell,
                 const RnnOptions& options);

}  // namespace xpu::dnn

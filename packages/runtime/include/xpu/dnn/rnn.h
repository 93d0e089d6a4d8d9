#pragma once

#include <cstdint>
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

/// The same tensors, for the calls of training. What a framework calls a GRU may differ: PyTorch's has its
/// gates in the order r u n, blends as this one does, adds the hidden bias of n before the reset gate
/// (gru_linear_before_reset), and has two biases for each other gate, whose sum is the bias here and whose
/// gradients are both the bias's. Its LSTM's gates are in this order. Dropout between layers: a call a layer.
struct RnnTensors {
  Tensor src, weights_layer, weights_iter, bias, dst;
  std::optional<Tensor> state0 = {}, cell0 = {}, state = {}, cell = {};
};

/// Memory that a forward fills for its backward: each layer's gates and states, and the results of all layers
/// but the last.
struct RnnWorkspace {
  std::size_t bytes = 0;        ///< to allocate
  std::size_t layer_bytes = 0;  ///< of one layer's gates and states
  std::uint64_t onednn = 0;     ///< bit i: layer i is filled by oneDNN, and only oneDNN can read it
};

/// The workspace of the calls below. Chooses one candidate for forward and backward.
XPU_API RnnWorkspace rnn_workspace(int device, const RnnTensors& tensors, const RnnOptions& options);

/// rnn() that fills `memory`, contiguous u8 of workspace.bytes or more.
XPU_API void rnn_training(Stream stream, const RnnTensors& tensors, const RnnOptions& options,
                          const RnnWorkspace& workspace, const Tensor& memory);

struct RnnGradients {
  std::optional<Tensor> dst, state, cell;  ///< of the results; none is zeros
  /// Written, not added to; none is not asked for.
  std::optional<Tensor> src, weights_layer, weights_iter, bias, state0, cell0;
};

/// The gradients of rnn_training(), which had the same tensors. Reads `memory` and leaves it for another
/// call.
XPU_API void rnn_backward(Stream stream, const RnnTensors& tensors, const RnnOptions& options,
                          const RnnWorkspace& workspace, const Tensor& memory, const RnnGradients& gradients);

}  // namespace xpu::dnn

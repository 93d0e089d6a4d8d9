// One layer of a recurrent network over a sequence.
#pragma once

#include <optional>

#include "dnn/candidates.h"
#include "dnn/epilogue/epilogue.h"
#include "dnn/problem.h"
#include "xpu/dnn/rnn.h"

namespace xpu::dnn {

enum class RnnPass { inference, training, backward };

struct RnnProblem {
  /// `workspace` and `gradients` are null unless the pass has them. The arguments must outlive this object.
  RnnProblem(int device, const RnnTensors& tensors, const RnnOptions& options,
             RnnPass pass = RnnPass::inference, void* workspace = nullptr,
             const RnnGradients* gradients = nullptr);

  const Tensor &src, &weights_layer, &weights_iter, &bias, &dst;  ///< operands 0 to 4
  RnnOptions options;
  RnnPass pass;
  std::int64_t steps, batch, inputs, directions, channels;
  Problem problem;
  ExtraOperands extras;
  ExtraOperand state0, cell0, state, cell;
  int workspace = -1;  ///< operand
  ExtraOperand grad_dst, grad_state, grad_cell;
  ExtraOperand grad_src, grad_weights_layer, grad_weights_iter, grad_bias, grad_state0, grad_cell0;

  bool is_lstm() const { return options.kind == RnnOptions::Kind::lstm; }
  bool is_concat() const { return options.direction == RnnOptions::Direction::both_concat; }
  bool is_right_to_left() const { return options.direction == RnnOptions::Direction::right_to_left; }
};

/// The forward. For training it fills the workspace that rnn_onednn_backward() reads.
std::string rnn_onednn(const RnnProblem& p, Plan& plan);
std::string rnn_onednn_backward(const RnnProblem& p, Plan& plan);
std::string rnn_sycl(const RnnProblem& p, Plan& plan);
std::string rnn_sycl_backward(const RnnProblem& p, Plan& plan);
/// Returns how many values rnn_sycl() saves for each channel: the gates, and the states before the step.
std::int64_t rnn_sycl_saved_values(const RnnProblem& p);

/// Returns the candidates of a forward.
std::vector<Candidate> rnn_candidates(const RnnProblem& p);

}  // namespace xpu::dnn

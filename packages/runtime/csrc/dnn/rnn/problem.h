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
  /// `workspace` and `gradients` as the pass has them. What is passed must outlive this.
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

  bool lstm() const { return options.kind == RnnOptions::Kind::lstm; }
  bool concat() const { return options.direction == RnnOptions::Direction::both_concat; }
  bool starts_right() const { return options.direction == RnnOptions::Direction::right_to_left; }
};

/// The forward; for training one whose workspace rnn_onednn_backward() reads.
std::string rnn_onednn(const RnnProblem& p, Plan& plan);
std::string rnn_onednn_backward(const RnnProblem& p, Plan& plan);
std::string rnn_sycl(const RnnProblem& p, Plan& plan);
std::string rnn_sycl_backward(const RnnProblem& p, Plan& plan);
/// Values that rnn_sycl() keeps for each channel: the gates, and states from before the step.
std::int64_t rnn_sycl_kept(const RnnProblem& p);

/// The candidates of a forward.
std::vector<Candidate> rnn_candidates(const RnnProblem& p);

}  // namespace xpu::dnn

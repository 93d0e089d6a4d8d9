// One layer of a recurrent network over a sequence.
#pragma once

#include <optional>

#include "dnn/epilogue.h"
#include "dnn/problem.h"
#include "xpu/dnn/rnn.h"

namespace xpu::dnn {

struct RnnProblem {
  RnnProblem(int device, const Tensor& src, const Tensor& weights_layer, const Tensor& weights_iter,
             const Tensor& bias, const std::optional<Tensor>& state0, const std::optional<Tensor>& cell0,
             const Tensor& dst, const std::optional<Tensor>& state, const std::optional<Tensor>& cell,
             const RnnOptions& options);

  const Tensor &src, &weights_layer, &weights_iter, &bias, &dst;  ///< operands 0 to 4
  RnnOptions options;
  std::int64_t steps, batch, inputs, directions, channels;
  Problem problem;
  Extras extras;
  Extra state0, cell0, state, cell;

  bool lstm() const { return options.kind == RnnOptions::Kind::lstm; }
  bool concat() const { return options.direction == RnnOptions::Direction::both_concat; }
};

std::string rnn_onednn(const RnnProblem& p, Plan& plan);
std::string rnn_sycl(const RnnProblem& p, Plan& plan);

}  // namespace xpu::dnn

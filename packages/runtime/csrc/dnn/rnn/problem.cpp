#include "dnn/rnn/problem.h"

#include "dnn/epilogue/epilogue_step.h"
#include "dnn/rnn/layers.h"
#include "kernels/scratch_buffer.h"

namespace xpu::dnn {
namespace {

const char rnn_name[] = "rnn", rnn_backward_name[] = "rnn_backward";

}  // namespace

RnnProblem::RnnProblem(int device, const RnnTensors& t, const RnnOptions& o, RnnPass pass_, void* memory,
                       const RnnGradients* gradients)
    : src(t.src),
      weights_layer(t.weights_layer),
      weights_iter(t.weights_iter),
      bias(t.bias),
      dst(t.dst),
      options(o),
      pass(pass_),
      steps(src.shape[0]),
      batch(src.shape[1]),
      inputs(src.shape[2]),
      directions(weights_layer.shape[1]),
      channels(weights_layer.shape[4]),
      problem(pass == RnnPass::backward ? rnn_backward_name : rnn_name, device) {
  for (auto* tensor : {&src, &weights_layer, &weights_iter, &bias, &dst}) problem.add(*tensor);
  problem.number(static_cast<int>(o.kind) | static_cast<int>(o.direction) << 4 | static_cast<int>(pass) << 8);
  state0 = extras.add(problem, t.state0);
  cell0 = extras.add(problem, t.cell0);
  state = extras.add(problem, t.state);
  cell = extras.add(problem, t.cell);
  // The plan decides its size.
  if (pass != RnnPass::inference) workspace = problem.add(Tensor(memory, DType::u8, {1}));
  if (!gradients) return;
  auto& g = *gradients;
  grad_dst = extras.add(problem, g.dst);
  grad_state = extras.add(problem, g.state);
  grad_cell = extras.add(problem, g.cell);
  grad_src = extras.add(problem, g.src);
  grad_weights_layer = extras.add(problem, g.weights_layer);
  grad_weights_iter = extras.add(problem, g.weights_iter);
  grad_bias = extras.add(problem, g.bias);
  grad_state0 = extras.add(problem, g.state0);
  grad_cell0 = extras.add(problem, g.cell0);
}

std::vector<Candidate> rnn_candidates(const RnnProblem& p) {
  return {{"onednn", [&p](Plan& plan) { return rnn_onednn(p, plan); }},
          {"sycl", [&p](Plan& plan) { return rnn_sycl(p, plan); }}};
}

void rnn(Stream stream, const Tensor& src, const Tensor& weights_layer, const Tensor& weights_iter,
         const Tensor& bias, const std::optional<Tensor>& state0, const std::optional<Tensor>& cell0,
         const Tensor& dst, const std::optional<Tensor>& state, const std::optional<Tensor>& cell,
         const RnnOptions& options) {
  RnnTensors all{src, weights_layer, weights_iter, bias, dst, state0, cell0, state, cell};
  auto layers = rnn_layers(all, options);
  if (dst.numel() == 0) return;
  // Results of one layer for the next.
  kernels::ScratchBuffer memory[2];
  Tensor from = src;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    auto& buffer = memory[layer % 2];
    Tensor to = dst;
    if (layer < layers - 1) {
      to = row_major(dst, dst.dtype);
      if (!buffer.data())
        buffer = kernels::ScratchBuffer(stream, static_cast<std::size_t>(to.numel()) * size_of(to.dtype));
      to.data = buffer.data();
    }
    auto one = one_layer(all, layer, from, to);
    RnnProblem p(stream.device(), one, options);
    run(stream, p.problem, [&p] { return rnn_candidates(p); });
    from = to;
  }
}

}  // namespace xpu::dnn

// LSTM networks. With gradients off PyTorch would call oneDNN on xpu tensors by a table of functions in which
// its wheel for CPUs has no place for xpu; with gradients on, even if no tensor requires any, it computes by
// cells.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/lstm_native.h>
#include <torch/library.h>

namespace torch_xpu {
namespace {

using at::Tensor;
using at::TensorList;

std::vector<Tensor> detached(TensorList tensors) {
  std::vector<Tensor> result;
  for (auto& t : tensors) result.push_back(t.detach());
  return result;
}

std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, TensorList states, TensorList parameters,
                                        bool has_biases, std::int64_t layers, double dropout, bool train,
                                        bool bidirectional, bool batch_first) {
  if (at::GradMode::is_enabled())
    return at::native::lstm(input, states, parameters, has_biases, layers, dropout, train, bidirectional,
                            batch_first);
  at::AutoGradMode with_gradients(true);
  return at::native::lstm(input.detach(), detached(states), detached(parameters), has_biases, layers, dropout,
                          train, bidirectional, batch_first);
}

}  // namespace

// Inference tensors come to the first.
TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("lstm.input", lstm);
}
TORCH_LIBRARY_IMPL(aten, AutogradXPU, m) {
  m.impl("lstm.input", lstm);
}

}  // namespace torch_xpu

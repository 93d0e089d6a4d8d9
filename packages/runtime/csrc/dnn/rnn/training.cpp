#include <algorithm>

#include "dnn/epilogue/epilogue_step.h"
#include "dnn/operand_checks.h"
#include "dnn/rnn/layers.h"
#include "dnn/rnn/problem.h"
#include "kernels/scratch_buffer.h"

namespace xpu::dnn {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::int64_t max_layers = 64;

std::size_t aligned(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::size_t bytes_of(const Tensor& t) {
  return static_cast<std::size_t>(t.numel()) * size_of(t.dtype);
}

// Each layer's gates and states, then the results of all layers but the last.
struct WorkspaceParts {
  const RnnTensors& all;
  const RnnWorkspace& sizes;
  char* memory;
  std::int64_t layers;

  void* workspace(std::int64_t layer) const { return memory + layer * sizes.layer_bytes; }
  Tensor result(std::int64_t layer) const {
    if (layer == layers - 1) return all.dst;
    auto between = row_major(all.dst, all.dst.dtype);
    between.data = memory + layers * sizes.layer_bytes + layer * aligned(bytes_of(between));
    return between;
  }
  RnnTensors tensors(std::int64_t layer) const {
    return one_layer(all, layer, layer ? result(layer - 1) : all.src, result(layer));
  }
  bool by_onednn(std::int64_t layer) const { return sizes.onednn >> layer & 1; }
};

std::int64_t checked_layers(const RnnTensors& all, const RnnOptions& options) {
  auto layers = rnn_layers(all, options);
  expect<Unsupported>(layers <= max_layers, "rnn: ", layers,
                      " layers in one call to train, expected at most ", max_layers, "; split the call");
  expect<UsageError>(all.dst.numel() > 0 && all.src.numel() > 0, "rnn: nothing to train with: the source is ",
                     all.src, " and the result ", all.dst);
  return layers;
}

std::vector<Candidate> backward_candidates(const RnnProblem& p, bool by_onednn) {
  auto reject = [](const char* writer) {
    return [writer](Plan&) -> std::string {
      throw Rejection{join("the workspace was written by the candidate ", writer)};
    };
  };
  if (by_onednn)
    return {{"onednn", [&p](Plan& plan) { return rnn_onednn_backward(p, plan); }},
            {"sycl", reject("onednn")}};
  return {{"onednn", reject("sycl")}, {"sycl", [&p](Plan& plan) { return rnn_sycl_backward(p, plan); }}};
}

std::size_t between_bytes(const RnnTensors& all) {
  return aligned(bytes_of(row_major(all.dst, all.dst.dtype)));
}

// The caller passes the sizes back, and they give the offsets in the memory, so they are checked.
void require_workspace(const char* op, const RnnTensors& all, const RnnWorkspace& sizes, const Tensor& memory,
                       std::int64_t layers) {
  require_memory(op, "the workspace", memory, sizes.bytes, DType::u8);
  auto results = static_cast<std::size_t>(layers - 1) * between_bytes(all);
  bool fits = sizes.bytes >= results &&
              sizes.layer_bytes <= (sizes.bytes - results) / static_cast<std::size_t>(layers);
  expect<UsageError>(fits, op, ": a workspace of ", sizes.bytes, " bytes, of which each of ", layers,
                     " layers takes ", sizes.layer_bytes,
                     ", was made for other tensors; call rnn_workspace()");
}

}  // namespace

RnnWorkspace rnn_workspace(int device, const RnnTensors& all, const RnnOptions& options) {
  RnnWorkspace sizes;
  WorkspaceParts parts{all, sizes, nullptr, checked_layers(all, options)};
  for (std::int64_t layer = 0; layer < parts.layers; ++layer) {
    auto tensors = parts.tensors(layer);
    RnnProblem p(device, tensors, options, RnnPass::training);
    auto plan = find_plan(p.problem, [&p] { return rnn_candidates(p); });
    sizes.layer_bytes = std::max(sizes.layer_bytes, aligned(plan->workspace_bytes));
    sizes.onednn |= static_cast<std::uint64_t>(plan->candidate == "onednn") << layer;
  }
  sizes.bytes = static_cast<std::size_t>(parts.layers) * sizes.layer_bytes +
                static_cast<std::size_t>(parts.layers - 1) * between_bytes(all);
  return sizes;
}

void rnn_training(Stream stream, const RnnTensors& all, const RnnOptions& options, const RnnWorkspace& sizes,
                  const Tensor& memory) {
  WorkspaceParts parts{all, sizes, static_cast<char*>(memory.data), checked_layers(all, options)};
  require_workspace("rnn_training", all, sizes, memory, parts.layers);
  auto needed = rnn_workspace(stream.device(), all, options);
  expect<UsageError>(
      needed.layer_bytes <= sizes.layer_bytes && needed.onednn == sizes.onednn,
      "rnn_training: the workspace was made for other tensors or another candidate; call rnn_workspace()");
  for (std::int64_t layer = 0; layer < parts.layers; ++layer) {
    auto tensors = parts.tensors(layer);
    RnnProblem p(stream.device(), tensors, options, RnnPass::training, parts.workspace(layer));
    run(stream, p.problem, [&p] { return rnn_candidates(p); });
  }
}

void rnn_backward(Stream stream, const RnnTensors& all, const RnnOptions& options, const RnnWorkspace& sizes,
                  const Tensor& memory, const RnnGradients& gradients) {
  check_rnn_gradients(all, gradients);
  WorkspaceParts parts{all, sizes, static_cast<char*>(memory.data), checked_layers(all, options)};
  require_workspace("rnn_backward", all, sizes, memory, parts.layers);
  // Gradients that one layer's backward writes for the previous layer's.
  kernels::ScratchBuffer gradient_buffers[2];
  auto each_layer = [&](auto&& use) {
    auto given = gradients.dst;
    for (std::int64_t layer = parts.layers - 1; layer >= 0; --layer) {
      auto tensors = parts.tensors(layer);
      auto wanted = one_layer(gradients, layer);
      wanted.dst = given;
      if (layer > 0) {
        auto between = row_major(tensors.src, DType::f32);
        between.data = gradient_buffers[layer % 2].data();
        wanted.src = given = between;
      }
      RnnProblem p(stream.device(), tensors, options, RnnPass::backward, parts.workspace(layer), &wanted);
      bool by_onednn = parts.by_onednn(layer);
      p.problem.number(by_onednn);
      use(p, find_plan(p.problem, [&] { return backward_candidates(p, by_onednn); }));
    }
  };
  // Every layer must have a plan that can read the workspace before the first one runs.
  each_layer([&](const RnnProblem&, const PlanPtr& plan) {
    expect<UsageError>(plan->workspace_bytes <= sizes.layer_bytes,
                       "rnn_backward: the workspace was made for other tensors; call rnn_workspace()");
  });
  for (std::int64_t layer = 1; layer < std::min<std::int64_t>(parts.layers, 3); ++layer)
    gradient_buffers[layer % 2] =
        kernels::ScratchBuffer(stream, bytes_of(row_major(parts.tensors(layer).src, DType::f32)));
  each_layer([&](const RnnProblem& p, const PlanPtr& plan) { plan->run(stream, p.problem); });
}

}  // namespace xpu::dnn

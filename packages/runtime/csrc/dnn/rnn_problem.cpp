#include "dnn/rnn_problem.h"

#include "dnn/candidates.h"
#include "dnn/epilogue_step.h"
#include "xpu/memory.h"

namespace xpu::dnn {
namespace {

const char name[] = "rnn";

int gates_of(RnnOptions::Kind kind) {
  using K = RnnOptions::Kind;
  return kind == K::lstm ? 4 : kind == K::gru || kind == K::gru_linear_before_reset ? 3 : 1;
}

void check(const char* what, const Tensor& t, std::initializer_list<std::int64_t> shape) {
  bool fits = t.ndim == static_cast<int>(shape.size());
  for (int d = 0; d < t.ndim && fits; ++d) fits = t.shape[d] == shape.begin()[d];
  if (fits) return;
  std::string expected;
  for (auto size : shape) expected += join(expected.empty() ? "" : ",", size);
  fail<UsageError>("rnn: ", what, " is ", t, ", expected the shape [", expected, "]");
}

// Returns the number of layers.
std::int64_t check_all(const Tensor& src, const Tensor& weights_layer, const Tensor& weights_iter,
                       const Tensor& bias, const Tensor& dst,
                       std::initializer_list<const std::optional<Tensor>*> states, const RnnOptions& o) {
  using D = RnnOptions::Direction;
  expect<UsageError>(src.ndim == 3 && weights_layer.ndim == 5,
                     "rnn: expected a source T N C and weights L D I G O; got ", src, " and ", weights_layer);
  auto steps = src.shape[0], batch = src.shape[1], inputs = src.shape[2];
  auto layers = weights_layer.shape[0], channels = weights_layer.shape[4];
  bool concat = o.direction == D::both_concat, both = concat || o.direction == D::both_sum;
  std::int64_t directions = both ? 2 : 1, outputs = concat ? 2 * channels : channels;
  auto gates = gates_of(o.kind), biases = gates + (o.kind == RnnOptions::Kind::gru_linear_before_reset);
  check("weights_layer", weights_layer, {layers, directions, inputs, gates, channels});
  check("weights_iter", weights_iter, {layers, directions, channels, gates, channels});
  check("bias", bias, {layers, directions, biases, channels});
  check("dst", dst, {steps, batch, outputs});
  expect<UsageError>(layers == 1 || inputs == outputs, "rnn: ", layers,
                     " layers in one call need as many inputs (", inputs, ") as outputs (", outputs,
                     "); call the first layer alone");
  for (auto* t : states)
    if (*t) check("a state", **t, {layers, directions, batch, channels});
  return layers;
}

Tensor one_layer(Tensor t, std::int64_t layer) {
  t.data = static_cast<char*>(t.data) + layer * t.strides[0] * static_cast<std::int64_t>(size_of(t.dtype));
  t.shape[0] = 1;
  return t;
}

std::optional<Tensor> one_layer(const std::optional<Tensor>& t, std::int64_t layer) {
  return t ? std::optional(one_layer(*t, layer)) : std::nullopt;
}

// What one layer leaves for the next.
struct Between {
  Tensor tensor;
  Between(const Tensor& like, Stream stream) : tensor(row_major(like, like.dtype)) {
    tensor.data = memory::allocate(static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype), stream);
  }
  Between(const Between&) = delete;
  ~Between() { memory::deallocate(tensor.data); }
};

}  // namespace

RnnProblem::RnnProblem(int device, const Tensor& src_, const Tensor& wl, const Tensor& wi,
                       const Tensor& bias_, const std::optional<Tensor>& state0_,
                       const std::optional<Tensor>& cell0_, const Tensor& dst_,
                       const std::optional<Tensor>& state_, const std::optional<Tensor>& cell_,
                       const RnnOptions& o)
    : src(src_),
      weights_layer(wl),
      weights_iter(wi),
      bias(bias_),
      dst(dst_),
      options(o),
      steps(src.shape[0]),
      batch(src.shape[1]),
      inputs(src.shape[2]),
      directions(wl.shape[1]),
      channels(wl.shape[4]),
      problem(name, device) {
  for (auto* t : {&src, &weights_layer, &weights_iter, &bias, &dst}) problem.add(*t);
  problem.number(static_cast<int>(o.kind) | static_cast<int>(o.direction) << 4);
  state0 = extras.add(problem, state0_);
  cell0 = extras.add(problem, cell0_);
  state = extras.add(problem, state_);
  cell = extras.add(problem, cell_);
}

void rnn(Stream stream, const Tensor& src, const Tensor& weights_layer, const Tensor& weights_iter,
         const Tensor& bias, const std::optional<Tensor>& state0, const std::optional<Tensor>& cell0,
         const Tensor& dst, const std::optional<Tensor>& state, const std::optional<Tensor>& cell,
         const RnnOptions& options) {
  expect<UsageError>(options.kind == RnnOptions::Kind::lstm || (!cell0 && !cell),
                     "rnn: only an LSTM has cell states");
  auto layers =
      check_all(src, weights_layer, weights_iter, bias, dst, {&state0, &cell0, &state, &cell}, options);
  if (dst.numel() == 0) return;
  std::optional<Between> halves[2];
  const Tensor* from = &src;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    auto& half = halves[layer % 2];
    bool last = layer == layers - 1;
    if (!last && !half) half.emplace(dst, stream);
    auto wl = one_layer(weights_layer, layer), wi = one_layer(weights_iter, layer),
         b = one_layer(bias, layer);
    auto h0 = one_layer(state0, layer), c0 = one_layer(cell0, layer), h = one_layer(state, layer),
         c = one_layer(cell, layer);
    RnnProblem p(stream.device(), *from, wl, wi, b, h0, c0, last ? dst : half->tensor, h, c, options);
    run(stream, p.problem, [&p] {
      return std::vector<Candidate>{{"onednn", [&p](Plan& plan) { return rnn_onednn(p, plan); }},
                                    {"sycl", [&p](Plan& plan) { return rnn_sycl(p, plan); }}};
    });
    if (!last) from = &half->tensor;
  }
}

}  // namespace xpu::dnn

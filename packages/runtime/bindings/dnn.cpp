#include "xpu/dnn.h"

#include <pybind11/stl.h>

#include "bindings.h"
#include "operands.h"
#include "xpu/error.h"

namespace xpu::bindings {
namespace {

using dnn::PostOp;

PostOp::Kind post_op_kind(const std::string& name) {
  static const char* const names[] = {"relu", "gelu_erf", "gelu_tanh", "silu", "tanh",   "sigmoid",   "abs",
                                      "sqrt", "square",   "elu",       "clip", "linear", "hardswish", "add",
                                      "sub",  "mul",      "div",       "max",  "min",    "sum"};
  std::string all;
  for (int i = 0; i < static_cast<int>(std::size(names)); ++i) {
    if (name == names[i]) return static_cast<PostOp::Kind>(i);
    all += join(i ? ", " : "", names[i]);
  }
  fail<UsageError>("post-op: got \"", name, "\", expected one of ", all);
}

std::vector<PostOp> post_ops_of(const Operands& given, const py::sequence& list) {
  std::vector<PostOp> ops;
  for (auto item : list) {
    PostOp op{post_op_kind(item.attr("kind").cast<std::string>())};
    op.alpha = item.attr("alpha").cast<float>();
    op.beta = item.attr("beta").cast<float>();
    op.operand = given.maybe("post-op", item.attr("operand"), std::to_string(ops.size()).c_str());
    ops.push_back(op);
  }
  return ops;
}

dnn::Quantization quantization_of(const Operands& given, const char* of, py::handle q) {
  if (q.is_none()) return {};
  return {given.maybe(of, q.attr("scale"), "scale"), given.maybe(of, q.attr("zero_point"), "zero point"),
          given.maybe(of, q.attr("offset"), "offset")};
}

dnn::ConvOptions conv_options(const std::vector<std::vector<std::int64_t>>& geometry, std::int64_t groups,
                              bool transposed, bool deterministic, bool allow_tf32) {
  expect<UsageError>(geometry.size() == 4,
                     "convolution: expected stride, left and right padding and dilation");
  dnn::ConvOptions o;
  o.stride = geometry[0];
  o.padding_l = geometry[1];
  o.padding_r = geometry[2];
  o.dilation = geometry[3];
  o.groups = groups;
  o.transposed = transposed;
  o.deterministic = deterministic;
  o.allow_tf32 = allow_tf32;
  return o;
}

void bind_convolution(py::module_& m) {
  using Geometry = std::vector<std::vector<std::int64_t>>;
  m.def("convolution",
        [](Stream stream, py::handle src, py::handle weights, py::handle dst, const Geometry& geometry,
           std::int64_t groups, bool transposed, py::handle bias, const py::sequence& post_ops,
           py::handle q_src, py::handle q_weights, py::handle q_dst, bool deterministic, bool allow_tf32) {
          Operands given("convolution", stream);
          auto s = given.one("src", src), w = given.one("weights", weights), d = given.one("dst", dst);
          auto o = conv_options(geometry, groups, transposed, deterministic, allow_tf32);
          o.bias = given.maybe("bias", bias);
          o.post_ops = post_ops_of(given, post_ops);
          o.src = quantization_of(given, "src", q_src);
          o.weights = quantization_of(given, "weights", q_weights);
          o.dst = quantization_of(given, "dst", q_dst);
          py::gil_scoped_release unlocked;
          dnn::convolution(stream, s, w, d, o);
        });
  m.def("convolution_backward_data", [](Stream stream, py::handle grad_dst, py::handle weights,
                                        py::handle grad_src, const Geometry& geometry, std::int64_t groups,
                                        bool transposed, bool deterministic, bool allow_tf32) {
    Operands given("convolution_backward_data", stream);
    auto d = given.one("grad_dst", grad_dst), w = given.one("weights", weights),
         s = given.one("grad_src", grad_src);
    auto o = conv_options(geometry, groups, transposed, deterministic, allow_tf32);
    py::gil_scoped_release unlocked;
    dnn::convolution_backward_data(stream, d, w, s, o);
  });
  m.def("convolution_backward_weights",
        [](Stream stream, py::handle src, py::handle grad_dst, py::handle grad_weights, py::handle grad_bias,
           const Geometry& geometry, std::int64_t groups, bool transposed, bool deterministic,
           bool allow_tf32) {
          Operands given("convolution_backward_weights", stream);
          auto s = given.one("src", src), d = given.one("grad_dst", grad_dst),
               w = given.one("grad_weights", grad_weights);
          auto b = given.maybe("grad_bias", grad_bias);
          auto o = conv_options(geometry, groups, transposed, deterministic, allow_tf32);
          py::gil_scoped_release unlocked;
          dnn::convolution_backward_weights(stream, s, d, w, b, o);
        });
}

dnn::PoolOptions pool_options(const std::string& kind,
                              const std::vector<std::vector<std::int64_t>>& geometry) {
  using Kind = dnn::PoolOptions::Kind;
  expect<UsageError>(kind == "max" || kind == "average" || kind == "average_inside", "pool: got kind \"",
                     kind, "\", expected max, average or average_inside");
  expect<UsageError>(geometry.size() == 5,
                     "pool: expected kernel, stride, left and right padding and dilation");
  auto which = kind == "max"       ? Kind::max
               : kind == "average" ? Kind::average_include_padding
                                   : Kind::average_exclude_padding;
  return {which, geometry[0], geometry[1], geometry[2], geometry[3], geometry[4]};
}

void bind_pool(py::module_& m) {
  using Geometry = std::vector<std::vector<std::int64_t>>;
  m.def("pool", [](Stream stream, py::handle src, py::handle dst, const std::string& kind,
                   const Geometry& geometry, py::handle workspace) {
    Operands given("pool", stream);
    auto s = given.one("src", src), d = given.one("dst", dst);
    auto w = given.maybe("workspace", workspace);
    auto o = pool_options(kind, geometry);
    py::gil_scoped_release unlocked;
    dnn::pool(stream, s, d, o, w);
  });
  m.def("pool_backward", [](Stream stream, py::handle grad_dst, py::handle grad_src, const std::string& kind,
                            const Geometry& geometry, py::handle workspace) {
    Operands given("pool_backward", stream);
    auto d = given.one("grad_dst", grad_dst), s = given.one("grad_src", grad_src);
    auto w = given.maybe("workspace", workspace);
    auto o = pool_options(kind, geometry);
    py::gil_scoped_release unlocked;
    dnn::pool_backward(stream, d, s, o, w);
  });
}

void bind_normalization(py::module_& m) {
  m.def("layer_norm", [](Stream stream, py::handle x, py::handle y, py::handle weight, py::handle bias,
                         py::handle mean, py::handle variance, float epsilon) {
    Operands given("layer_norm", stream);
    auto tx = given.one("x", x), ty = given.one("y", y);
    auto w = given.maybe("weight", weight), b = given.maybe("bias", bias), u = given.maybe("mean", mean),
         v = given.maybe("variance", variance);
    py::gil_scoped_release unlocked;
    dnn::layer_norm(stream, tx, ty, w, b, u, v, epsilon);
  });
  m.def("batch_norm", [](Stream stream, py::handle x, py::handle y, py::handle weight, py::handle bias,
                         py::handle mean, py::handle variance, float epsilon, bool training) {
    Operands given("batch_norm", stream);
    auto tx = given.one("x", x), ty = given.one("y", y), u = given.one("mean", mean),
         v = given.one("variance", variance);
    auto w = given.maybe("weight", weight), b = given.maybe("bias", bias);
    py::gil_scoped_release unlocked;
    dnn::batch_norm(stream, tx, ty, w, b, u, v, epsilon, training);
  });
  m.def("softmax", [](Stream stream, py::handle x, py::handle y, int axis, bool log) {
    Operands given("softmax", stream);
    auto tx = given.one("x", x), ty = given.one("y", y);
    py::gil_scoped_release unlocked;
    dnn::softmax(stream, tx, ty, axis, log);
  });
  m.def("reorder", [](Stream stream, py::handle src, py::handle dst, py::handle q_src, py::handle q_dst) {
    Operands given("reorder", stream);
    auto s = given.one("src", src), d = given.one("dst", dst);
    auto qs = quantization_of(given, "src", q_src), qd = quantization_of(given, "dst", q_dst);
    py::gil_scoped_release unlocked;
    dnn::reorder(stream, s, d, qs, qd);
  });
}

dnn::RnnOptions rnn_options(const std::string& kind, const std::string& direction) {
  static const char* const kinds[] = {"lstm", "gru", "gru_linear_before_reset", "tanh", "relu"};
  static const char* const directions[] = {"forward", "backward", "both_concat", "both_sum"};
  auto index = [](const char* what, auto& names, const std::string& name) {
    std::string all;
    for (int i = 0; i < static_cast<int>(std::size(names)); ++i) {
      if (name == names[i]) return i;
      all += join(i ? ", " : "", names[i]);
    }
    fail<UsageError>("rnn: got ", what, " \"", name, "\", expected one of ", all);
  };
  return {static_cast<dnn::RnnOptions::Kind>(index("kind", kinds, kind)),
          static_cast<dnn::RnnOptions::Direction>(index("direction", directions, direction))};
}

// The arguments in the order of rnn().
dnn::RnnTensors rnn_tensors(const Operands& given, const py::sequence& list) {
  static const char* const names[] = {"src",    "weights_layer", "weights_iter", "bias", "dst",
                                      "state0", "cell0",         "state",        "cell"};
  expect<UsageError>(list.size() == 9, "rnn: expected 9 tensors or None, got ", list.size());
  auto one = [&](std::size_t i) { return given.one(names[i], list[i]); };
  auto maybe = [&](std::size_t i) { return given.maybe(names[i], list[i]); };
  return {one(0), one(1), one(2), one(3), one(4), maybe(5), maybe(6), maybe(7), maybe(8)};
}

void bind_rnn_training(py::module_& m) {
  using Sizes = std::tuple<std::size_t, std::size_t, std::uint64_t>;
  auto workspace_of = [](const Sizes& sizes) { return std::make_from_tuple<dnn::RnnWorkspace>(sizes); };
  m.def("rnn_workspace",
        [](int device, const py::sequence& tensors, const std::string& kind, const std::string& direction) {
          auto o = rnn_options(kind, direction);
          auto t = rnn_tensors({"rnn_workspace", device}, tensors);
          py::gil_scoped_release unlocked;
          auto workspace = dnn::rnn_workspace(device, t, o);
          return Sizes(workspace.bytes, workspace.layer_bytes, workspace.onednn);
        });
  m.def("rnn_training", [workspace_of](Stream stream, const py::sequence& tensors, const std::string& kind,
                                       const std::string& direction, const Sizes& sizes, py::handle memory) {
    Operands given("rnn_training", stream);
    auto o = rnn_options(kind, direction);
    auto t = rnn_tensors(given, tensors);
    auto at = given.one("workspace", memory);
    py::gil_scoped_release unlocked;
    dnn::rnn_training(stream, t, o, workspace_of(sizes), at);
  });
  m.def("rnn_backward", [workspace_of](Stream stream, const py::sequence& tensors, const std::string& kind,
                                       const std::string& direction, const Sizes& sizes, py::handle memory,
                                       const py::sequence& gradients) {
    static const char* const names[] = {"dst",          "state", "cell",   "src",  "weights_layer",
                                        "weights_iter", "bias",  "state0", "cell0"};
    Operands given("rnn_backward", stream);
    auto o = rnn_options(kind, direction);
    auto t = rnn_tensors(given, tensors);
    auto at = given.one("workspace", memory);
    expect<UsageError>(gradients.size() == 9, "rnn_backward: expected 9 gradients or None, got ",
                       gradients.size());
    auto maybe = [&](std::size_t i) { return given.maybe("the gradient of", gradients[i], names[i]); };
    dnn::RnnGradients g{maybe(0), maybe(1), maybe(2), maybe(3), maybe(4),
                        maybe(5), maybe(6), maybe(7), maybe(8)};
    py::gil_scoped_release unlocked;
    dnn::rnn_backward(stream, t, o, workspace_of(sizes), at, g);
  });
}

void bind_rnn(py::module_& m) {
  m.def("rnn", [](Stream stream, py::handle src, py::handle weights_layer, py::handle weights_iter,
                  py::handle bias, py::handle state0, py::handle cell0, py::handle dst, py::handle state,
                  py::handle cell, const std::string& kind, const std::string& direction) {
    auto o = rnn_options(kind, direction);
    Operands given("rnn", stream);
    auto s = given.one("src", src), wl = given.one("weights_layer", weights_layer),
         wi = given.one("weights_iter", weights_iter), b = given.one("bias", bias), d = given.one("dst", dst);
    auto h0 = given.maybe("state0", state0), c0 = given.maybe("cell0", cell0),
         h = given.maybe("state", state), c = given.maybe("cell", cell);
    py::gil_scoped_release unlocked;
    dnn::rnn(stream, s, wl, wi, b, h0, c0, d, h, c, o);
  });
}

dnn::AttentionOptions attention_options(const Operands& given, float scale, bool causal, py::handle mask,
                                        py::handle logsumexp, float dropout, std::uint64_t seed,
                                        std::uint64_t offset) {
  return {scale,   causal,        given.maybe("mask", mask), given.maybe("logsumexp", logsumexp),
          dropout, {seed, offset}};
}

void bind_attention(py::module_& m) {
  m.def("attention", [](Stream stream, py::handle q, py::handle k, py::handle v, py::handle out, float scale,
                        bool causal, py::handle mask, py::handle logsumexp, float dropout, std::uint64_t seed,
                        std::uint64_t offset) {
    Operands given("attention", stream);
    auto tq = given.one("q", q), tk = given.one("k", k), tv = given.one("v", v), to = given.one("out", out);
    auto o = attention_options(given, scale, causal, mask, logsumexp, dropout, seed, offset);
    py::gil_scoped_release unlocked;
    dnn::attention(stream, tq, tk, tv, to, o);
  });
  m.def("attention_backward",
        [](Stream stream, py::handle grad_out, py::handle q, py::handle k, py::handle v, py::handle out,
           py::handle grad_q, py::handle grad_k, py::handle grad_v, float scale, bool causal, py::handle mask,
           py::handle logsumexp, float dropout, std::uint64_t seed, std::uint64_t offset) {
          Operands given("attention_backward", stream);
          auto tg = given.one("grad_out", grad_out), tq = given.one("q", q), tk = given.one("k", k),
               tv = given.one("v", v), to = given.one("out", out), gq = given.one("grad_q", grad_q),
               gk = given.one("grad_k", grad_k), gv = given.one("grad_v", grad_v);
          auto o = attention_options(given, scale, causal, mask, logsumexp, dropout, seed, offset);
          py::gil_scoped_release unlocked;
          dnn::attention_backward(stream, tg, tq, tk, tv, to, gq, gk, gv, o);
        });
}

void bind_plans(py::module_& m) {
  m.def("dnn_onednn_matmul_unsupported_reason", &dnn::onednn_matmul_unsupported_reason, py::arg("device"));
  m.def("dnn_explain", &dnn::explain);
  m.def("dnn_cache_stats", [] {
    auto stats = dnn::cache_stats();
    return py::make_tuple(stats.entries, stats.hits, stats.misses);
  });
  m.def("dnn_clear_cache", &dnn::clear_cache, Unlocked());
  m.def("dnn_force_candidate", &dnn::force_candidate, py::arg("name"), Unlocked());
  m.def("dnn_forced_candidate", &dnn::forced_candidate);
}

}  // namespace

void bind_dnn(py::module_& m) {
  bind_plans(m);
  bind_convolution(m);
  bind_pool(m);
  bind_normalization(m);
  bind_rnn(m);
  bind_rnn_training(m);
  bind_attention(m);
  m.def("matmul", [](Stream stream, py::handle a, py::handle b, py::handle c, py::handle bias,
                     const py::sequence& post_ops, py::handle qa, py::handle qb, py::handle qc,
                     bool deterministic, bool allow_tf32) {
    Operands given("matmul", stream);
    auto ta = given.one("a", a), tb = given.one("b", b), tc = given.one("c", c);
    dnn::MatmulOptions o{given.maybe("bias", bias),
                         post_ops_of(given, post_ops),
                         quantization_of(given, "a", qa),
                         quantization_of(given, "b", qb),
                         quantization_of(given, "c", qc),
                         deterministic,
                         allow_tf32};
    py::gil_scoped_release unlocked;
    dnn::matmul(stream, ta, tb, tc, o);
  });
}

}  // namespace xpu::bindings

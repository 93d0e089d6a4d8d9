#include "xpu/dnn.h"

#include <pybind11/stl.h>

#include "bindings.h"
#include "tensor.h"
#include "xpu/error.h"

namespace xpu::bindings {
namespace {

using dnn::PostOp;

PostOp::Kind post_op_kind(const std::string& name) {
  static const char* const names[] = {"relu", "gelu_erf", "gelu_tanh", "silu", "tanh", "sigmoid", "abs", "sqrt", "square", "elu",
                                      "clip", "linear", "hardswish", "add", "sub", "mul", "div", "max", "min", "sum"};
  std::string all;
  for (int i = 0; i < static_cast<int>(std::size(names)); ++i) {
    if (name == names[i]) return static_cast<PostOp::Kind>(i);
    all += join(i ? ", " : "", names[i]);
  }
  fail<UsageError>("post-op: got \"", name, "\", expected one of ", all);
}

std::vector<PostOp> post_ops_of(const py::sequence& list) {
  std::vector<PostOp> ops;
  for (auto item : list) {
    PostOp op{post_op_kind(item.attr("kind").cast<std::string>())};
    op.alpha = item.attr("alpha").cast<float>();
    op.beta = item.attr("beta").cast<float>();
    op.operand = optional_tensor(item.attr("operand"));
    ops.push_back(op);
  }
  return ops;
}

dnn::Quantization quantization_of(py::handle q) {
  if (q.is_none()) return {};
  return {optional_tensor(q.attr("scale")), optional_tensor(q.attr("zero_point"))};
}

void bind_plans(py::module_& m) {
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
  m.def("matmul", [](Stream stream, py::handle a, py::handle b, py::handle c, py::handle bias, const py::sequence& post_ops,
                     py::handle qa, py::handle qb, py::handle qc, bool deterministic, bool allow_tf32) {
    auto ta = tensor_of(a), tb = tensor_of(b), tc = tensor_of(c);
    dnn::MatmulOptions o{optional_tensor(bias), post_ops_of(post_ops), quantization_of(qa), quantization_of(qb), quantization_of(qc),
                         deterministic, allow_tf32};
    py::gil_scoped_release unlocked;
    dnn::matmul(stream, ta, tb, tc, o);
  });
}

}  // namespace xpu::bindings

#include "dnn/convolution/problem.h"

#include "dnn/candidates.h"
#include "dnn/descriptor.h"
#include "dnn/operand_checks.h"
#include "xpu/error.h"

namespace xpu::dnn {
namespace {

const char forward_name[] = "convolution", data_name[] = "convolution_backward_data",
           weights_name[] = "convolution_backward_weights";

void fill(std::int64_t* to, const std::vector<std::int64_t>& from, int spatial, std::int64_t otherwise,
          std::int64_t min_value, const char* name, const char* option) {
  expect<UsageError>(from.empty() || static_cast<int>(from.size()) == spatial, name, ": ", option, " has ",
                     from.size(), " values, expected one for each of the ", spatial, " spatial dimensions");
  for (int d = 0; d < 3; ++d) {
    to[d] = d < spatial && !from.empty() ? from[d] : otherwise;
    expect<UsageError>(to[d] >= min_value, name, ": ", option, " is ", to[d], " in spatial dimension ", d,
                       ", expected at least ", min_value);
  }
}

}  // namespace

ConvProblem::ConvProblem(const char* name, int device, ConvSum sum_, const Tensor& x_, const Tensor& w_,
                         const Tensor& y_, const std::optional<Tensor>& bias_, const ConvOptions& o,
                         bool forward_)
    : sum(sum_),
      options(o),
      forward(forward_),
      x(x_),
      w(w_),
      y(y_),
      spatial(x_.ndim - 2),
      groups(o.groups),
      problem(name, device) {
  LazyText got = [&] { return join("; got ", x, " * ", w, " -> ", y, ", groups ", groups); };
  expect<UsageError>(x.ndim >= 3 && x.ndim <= 5 && w.ndim == x.ndim && y.ndim == x.ndim, name,
                     ": expected N C [D [H]] W, three to five dimensions everywhere", got);
  expect<UsageError>(groups > 0 && x.shape[1] % groups == 0 && y.shape[1] % groups == 0 &&
                         w.shape[1] == x.shape[1] / groups && w.shape[0] == y.shape[1] &&
                         x.shape[0] == y.shape[0],
                     name, ": channels, groups and batch do not fit together", got);
  fill(stride, o.stride, spatial, 1, 1, name, "stride");
  fill(dilation, o.dilation, spatial, 1, 1, name, "dilation");
  fill(padding_l, o.padding_l, spatial, 0, INT64_MIN, name, "padding_l");
  fill(padding_r, o.padding_r, spatial, 0, INT64_MIN, name, "padding_r");
  for (int d = 0; d < spatial; ++d) {
    auto reach = dilation[d] * (w.shape[2 + d] - 1) + 1,
         room = x.shape[2 + d] + padding_l[d] + padding_r[d] - reach;
    // Rows that no window reaches are allowed only after the last window.
    expect<UsageError>(room >= 0 && y.shape[2 + d] == room / stride[d] + 1, name, ": spatial dimension ", d,
                       " of ", x.shape[2 + d], " gives ", room < 0 ? 0 : room / stride[d] + 1, ", not ",
                       y.shape[2 + d], got);
  }
  problem.add(x);
  problem.add(w);
  problem.add(y);
  problem.number(static_cast<int>(sum) | forward << 2 | o.transposed << 3 | o.deterministic << 4 |
                 o.allow_tf32 << 5 | (o.packed_weights != nullptr) << 6 | o.small_src << 7);
  problem.number(groups);
  for (int d = 0; d < spatial; ++d)
    for (auto value : {stride[d], dilation[d], padding_l[d], padding_r[d]}) problem.number(value);
  require_shape(name, forward ? "the bias" : "grad_bias", bias_, {o.transposed ? x.shape[1] : y.shape[1]});
  bias = extras.add(problem, bias_);
  if (!forward) return;
  require_fits(name, "the source", o.src, o.transposed ? y : x);
  require_fits(name, "the weights", o.weights, w);
  require_fits(name, "the result", o.dst, result());
  require_fit(name, o.post_ops, result());
  scale_src = extras.add(problem, o.src.scale);
  zero_src = extras.add(problem, o.src.zero_point);
  scale_weights = extras.add(problem, o.weights.scale);
  zero_weights = extras.add(problem, o.weights.zero_point);
  scale_dst = extras.add(problem, o.dst.scale);
  zero_dst = extras.add(problem, o.dst.zero_point);
  extras.add(problem, o.post_ops);
}

Tensor split_groups(const Tensor& t, std::int64_t groups) {
  if (t.ndim == 0) return t;
  Tensor split = with_leading_ones(t, t.ndim + 1);
  if (t.shape[0] == 1) return split;
  split.shape[0] = groups;
  split.shape[1] = t.shape[0] / groups;
  split.strides[0] = t.strides[0] * split.shape[1];
  return split;
}

Epilogue conv_epilogue(const ConvProblem& p, const char* type, bool operand_scales) {
  Epilogue epilogue(p.x.ndim, type);
  if (!p.forward) return epilogue;
  if (operand_scales) {
    epilogue.multiply(p.scale_src);
    bool of_channels = p.scale_weights.tensor && p.scale_weights.tensor->ndim > 0;
    if (of_channels)
      epilogue.by_channel(PostOp::Kind::mul, p.scale_weights);
    else
      epilogue.multiply(p.scale_weights);
  }
  epilogue.by_channel(PostOp::Kind::add, p.bias);
  for (std::size_t i = 0; i < p.options.post_ops.size(); ++i)
    epilogue.apply(p.options.post_ops[i], p.extras.operand(i));
  epilogue.quantize(p.result(), p.scale_dst, p.zero_dst);
  return epilogue;
}

namespace {

void run_convolution(Stream stream, const ConvProblem& p) {
  if (p.result().numel() == 0 && !p.bias.tensor) return;
  auto candidates = [&p] {
    std::vector<Candidate> list{{"onednn", [&p](Plan& plan) { return conv_pointwise(p, plan); }}};
    for (auto convolve : {conv_onednn, conv_onednn_in_f32})
      for (auto layouts : {Layouts::keep_channels_last, Layouts::any})
        list.push_back({"onednn", [=, &p](Plan& plan) { return convolve(p, plan, layouts); }});
    if (p.forward)
      list.push_back({"onednn+sycl", [&p](Plan& plan) { return conv_onednn_and_kernel(p, plan); }});
    list.push_back({"sycl", [&p](Plan& plan) { return conv_sycl(p, plan); }});
    return list;
  };
  find_plan(p.problem, candidates)->run(stream, p.problem, p.options.packed_weights);
}

}  // namespace

void convolution(Stream stream, const Tensor& src, const Tensor& weights, const Tensor& dst,
                 const ConvOptions& options) {
  bool transposed = options.transposed;
  run_convolution(
      stream, {forward_name, stream.device(), transposed ? ConvSum::x : ConvSum::y, transposed ? dst : src,
               weights, transposed ? src : dst, options.bias, options, true});
}

void convolution_backward_data(Stream stream, const Tensor& grad_dst, const Tensor& weights,
                               const Tensor& grad_src, const ConvOptions& options) {
  bool transposed = options.transposed;
  run_convolution(stream, {data_name, stream.device(), transposed ? ConvSum::y : ConvSum::x,
                           transposed ? grad_dst : grad_src, weights, transposed ? grad_src : grad_dst,
                           std::nullopt, options, false});
}

void convolution_backward_weights(Stream stream, const Tensor& src, const Tensor& grad_dst,
                                  const Tensor& grad_weights, const std::optional<Tensor>& grad_bias,
                                  const ConvOptions& options) {
  bool transposed = options.transposed;
  run_convolution(stream, {weights_name, stream.device(), ConvSum::w, transposed ? grad_dst : src,
                           grad_weights, transposed ? src : grad_dst, grad_bias, options, false});
}

}  // namespace xpu::dnn

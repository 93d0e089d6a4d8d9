#include <algorithm>

#include "compile/source/embedded.h"
#include "dnn/candidates.h"
#include "dnn/descriptor.h"
#include "dnn/engine.h"
#include "dnn/kernel_step.h"
#include "dnn/operand_checks.h"
#include "dnn/primitive.h"
#include "xpu/device.h"
#include "xpu/dnn/pooling.h"

namespace xpu::dnn {
namespace {

const char pool_name[] = "pool", pool_backward_name[] = "pool_backward";

using Kind = PoolOptions::Kind;

// x is the input of the pooling and y its output; in a backward they are gradients.
struct PoolProblem {
  const Tensor &x, &y;
  const PoolOptions& options;
  bool forward, workspace;
  int spatial;
  std::int64_t kernel[3], stride[3], dilation[3], padding[3];
  Problem problem;

  PoolProblem(int device, const Tensor& x, const Tensor& y, const PoolOptions& options, bool forward,
              const std::optional<Tensor>& workspace);

 private:
  void fill(std::int64_t* to, const std::vector<std::int64_t>& from, const std::int64_t* otherwise,
            std::int64_t min_value, const char* option);
};

void PoolProblem::fill(std::int64_t* to, const std::vector<std::int64_t>& from, const std::int64_t* otherwise,
                       std::int64_t min_value, const char* option) {
  expect<UsageError>((from.empty() && otherwise) || static_cast<int>(from.size()) == spatial, problem.op(),
                     ": ", option, " has ", from.size(), " values, expected one for each of the ", spatial,
                     " spatial dimensions");
  for (int d = 0; d < spatial; ++d) {
    to[d] = from.empty() ? otherwise[d] : from[d];
    expect<UsageError>(to[d] >= min_value, problem.op(), ": ", option, " is ", to[d],
                       " in spatial dimension ", d, ", expected at least ", min_value);
  }
}

PoolProblem::PoolProblem(int device, const Tensor& x_, const Tensor& y_, const PoolOptions& o, bool forward_,
                         const std::optional<Tensor>& memory)
    : x(x_),
      y(y_),
      options(o),
      forward(forward_),
      workspace(o.kind == Kind::max && memory),
      spatial(x_.ndim - 2),
      problem(forward_ ? pool_name : pool_backward_name, device) {
  constexpr std::int64_t ones[3] = {1, 1, 1}, zeros[3] = {0, 0, 0};
  LazyText got = [&] { return join("; got ", x, " and ", y); };
  expect<UsageError>(
      x.ndim >= 3 && x.ndim <= 5 && y.ndim == x.ndim && x.shape[0] == y.shape[0] && x.shape[1] == y.shape[1],
      problem.op(), ": expected N C [D [H]] W with equal N and C", got);
  std::int64_t padding_r[3];
  fill(kernel, o.kernel, nullptr, 1, "kernel");
  fill(stride, o.stride, kernel, 1, "stride");
  fill(dilation, o.dilation, ones, 1, "dilation");
  fill(padding, o.padding_l, zeros, 0, "padding_l");
  fill(padding_r, o.padding_r, zeros, 0, "padding_r");
  for (int d = 0; d < spatial; ++d) {
    auto room = x.shape[2 + d] + padding[d] + padding_r[d] - dilation[d] * (kernel[d] - 1) - 1;
    expect<UsageError>(room >= 0 && y.shape[2 + d] == room / stride[d] + 1, problem.op(),
                       ": spatial dimension ", d, " of ", x.shape[2 + d], " gives ",
                       room < 0 ? 0 : room / stride[d] + 1, ", not ", y.shape[2 + d], got);
  }
  expect<UsageError>(forward || o.kind != Kind::max || workspace, problem.op(),
                     ": the backward of max pooling needs the forward's workspace");
  problem.add(x);
  problem.add(y);
  if (workspace) {
    require_memory(problem.op(), "workspace", *memory, static_cast<std::uint64_t>(y.numel()), DType::i32);
    problem.add(Tensor(memory->data, DType::i32, {y.numel()}));
  }
  problem.number(static_cast<int>(o.kind) | forward << 3 | workspace << 4);
  for (auto* list : {kernel, stride, dilation, padding})
    for (int d = 0; d < spatial; ++d) problem.number(list[d]);
}

std::string by_onednn(const PoolProblem& p, Plan& plan) {
  int device = p.problem.device();
  reject_unless(unsupported_reason(device).empty(), unsupported_reason(device));
  reject_unless(p.options.kind != Kind::max, "oneDNN's maximum loses NaNs");
  dnnl::memory::dims kernel(p.kernel, p.kernel + p.spatial), stride(p.stride, p.stride + p.spatial),
      padding(p.padding, p.padding + p.spatial);
  dnnl::memory::dims dilation, padding_r;
  for (int d = 0; d < p.spatial; ++d) {
    dilation.push_back(p.dilation[d] - 1);
    padding_r.push_back((p.y.shape[2 + d] - 1) * p.stride[d] + p.dilation[d] * (p.kernel[d] - 1) + 1 -
                        p.x.shape[2 + d] - p.padding[d]);
  }
  auto kind = p.options.kind == Kind::max ? dnnl::algorithm::pooling_max
              : p.options.kind == Kind::average_include_padding
                  ? dnnl::algorithm::pooling_avg_include_padding
                  : dnnl::algorithm::pooling_avg_exclude_padding;
  auto x = describe(p.x), y = describe(p.y);
  auto& engine = engine_of(device);
  auto prop = p.forward ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  dnnl::pooling_forward::primitive_desc forward(engine, prop, kind, x, y, stride, kernel, dilation, padding,
                                                padding_r, basic_attributes());
  if (p.forward) {
    auto implementation = fast_implementation(forward);
    plan.add(std::make_unique<PrimitiveStep>(
        plan, device, forward, dnnl::pooling_forward(forward),
        std::vector<PrimitiveStep::Argument>{{DNNL_ARG_SRC, x, 0}, {DNNL_ARG_DST, y, 1}}));
    return implementation;
  }
  dnnl::pooling_backward::primitive_desc backward(engine, kind, x, y, stride, kernel, dilation, padding,
                                                  padding_r, forward, basic_attributes());
  auto implementation = fast_implementation(backward);
  plan.add(std::make_unique<PrimitiveStep>(
      plan, device, backward, dnnl::pooling_backward(backward),
      std::vector<PrimitiveStep::Argument>{{DNNL_ARG_DIFF_SRC, x, 0}, {DNNL_ARG_DIFF_DST, y, 1}}));
  return implementation;
}

// As kernels/pooling.sycl declares it.
struct Shape {
  std::int64_t n, channels;
  std::int64_t x_size[3], y_size[3], kernel[3], stride[3], dilation[3], padding[3];
  std::int64_t x[5], y[5];
};

void pad_dims(std::int64_t* to, const std::int64_t* from, int spatial, std::int64_t otherwise) {
  for (int d = 0; d < 3; ++d) to[d] = d < 3 - spatial ? otherwise : from[d - 3 + spatial];
}

std::string by_kernel(const PoolProblem& p, Plan& plan) {
  int device = p.problem.device();
  bool doubles = p.x.dtype == DType::f64 || p.y.dtype == DType::f64;
  reject_unless(!is_complex(p.x.dtype) && !is_complex(p.y.dtype), "complex numbers");
  reject_unless(!doubles || device_info(device).fp64, "this device has no f64");
  bool integers = !is_float(p.x.dtype) && p.options.kind == Kind::max;
  auto source = join("#define XPU_X ", kernel_type(p.x.dtype), "\n#define XPU_Y ", kernel_type(p.y.dtype),
                     "\n#define XPU_SUM ",
                     doubles    ? "double"
                     : integers ? kernel_type(p.x.dtype)
                                : "float",
                     "\n#define XPU_FORWARD ", p.forward, "\n#define XPU_MAX ", p.options.kind == Kind::max,
                     "\n#define XPU_COUNT_PADDING ", p.options.kind == Kind::average_include_padding,
                     "\n#define XPU_WORKSPACE ", p.workspace, "\n") +
                kernel_source("pooling.sycl");
  Shape s{};
  s.n = p.x.shape[0];
  s.channels = p.x.shape[1];
  pad_dims(s.x_size, p.x.shape + 2, p.spatial, 1);
  pad_dims(s.y_size, p.y.shape + 2, p.spatial, 1);
  pad_dims(s.kernel, p.kernel, p.spatial, 1);
  pad_dims(s.stride, p.stride, p.spatial, 1);
  pad_dims(s.dilation, p.dilation, p.spatial, 1);
  pad_dims(s.padding, p.padding, p.spatial, 0);
  std::copy_n(p.x.strides, 2, s.x);
  std::copy_n(p.y.strides, 2, s.y);
  pad_dims(s.x + 2, p.x.strides + 2, p.spatial, 0);
  pad_dims(s.y + 2, p.y.strides + 2, p.spatial, 0);
  KernelArguments arguments;
  arguments.operand(0).operand(1);
  if (p.workspace) arguments.operand(2);
  arguments.value(s);
  constexpr std::size_t group = 64;
  auto items = static_cast<std::size_t>(p.forward ? p.y.numel() : p.x.numel());
  const char* kernel = p.forward ? "pool" : "pool_backward";
  plan.add(std::make_unique<KernelStep>(build_kernel(device, source, kernel),
                                        NdRange::linear((items + group - 1) / group, group),
                                        std::move(arguments)));
  return kernel;
}

void run_pool(Stream stream, const PoolProblem& p) {
  if (p.x.numel() == 0 || p.y.numel() == 0) return;
  run(stream, p.problem, [&p] {
    return std::vector<Candidate>{{"onednn", [&p](Plan& plan) { return by_onednn(p, plan); }},
                                  {"sycl", [&p](Plan& plan) { return by_kernel(p, plan); }}};
  });
}

}  // namespace

void pool(Stream stream, const Tensor& src, const Tensor& dst, const PoolOptions& options,
          const std::optional<Tensor>& workspace) {
  run_pool(stream, {stream.device(), src, dst, options, true, workspace});
}

void pool_backward(Stream stream, const Tensor& grad_dst, const Tensor& grad_src, const PoolOptions& options,
                   const std::optional<Tensor>& workspace) {
  run_pool(stream, {stream.device(), grad_src, grad_dst, options, false, workspace});
}

}  // namespace xpu::dnn

#include <algorithm>

#include "compile/source/embedded.h"
#include "dnn/candidates.h"
#include "dnn/descriptor.h"
#include "dnn/engine.h"
#include "dnn/epilogue/epilogue.h"
#include "dnn/operand_checks.h"
#include "dnn/primitive.h"
#include "xpu/device.h"
#include "xpu/dnn/normalization.h"

namespace xpu::dnn {
namespace {

const char batch_norm_name[] = "batch_norm";

struct BatchNormProblem {
  const Tensor &x, &y, &mean, &variance;
  float epsilon;
  bool training;
  Problem problem;
  ExtraOperands extras;
  ExtraOperand weight, bias;
};

// oneDNN supports only this type of scale and shift.
void check_float(ExtraOperand extra) {
  reject_unless(!extra.tensor || (extra.tensor->dtype == DType::f32 && extra.tensor->contiguous()),
                "weight or bias is not contiguous f32");
}

std::string by_onednn(const BatchNormProblem& p, Plan& plan) {
  using Flags = dnnl::normalization_flags;
  int device = p.problem.device();
  reject_unless(unsupported_reason(device).empty(), unsupported_reason(device));
  check_float(p.weight);
  check_float(p.bias);
  reject_unless(p.mean.contiguous() && p.variance.contiguous(), "mean or variance is not contiguous");
  auto flags = p.training ? Flags::none : Flags::use_global_stats;
  if (p.weight.tensor) flags |= Flags::use_scale;
  if (p.bias.tensor) flags |= Flags::use_shift;
  auto x = describe(p.x), y = describe(p.y);
  auto kind = p.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  dnnl::batch_normalization_forward::primitive_desc desc(engine_of(device), kind, x, y, p.epsilon, flags,
                                                         basic_attributes());
  auto implementation = fast_implementation(desc);
  std::vector<PrimitiveStep::Argument> arguments{{DNNL_ARG_SRC, x, 0},
                                                 {DNNL_ARG_DST, y, 1},
                                                 {DNNL_ARG_MEAN, describe(p.mean), 2},
                                                 {DNNL_ARG_VARIANCE, describe(p.variance), 3}};
  if (p.weight.tensor) arguments.push_back({DNNL_ARG_SCALE, describe(*p.weight.tensor), p.weight.operand});
  if (p.bias.tensor) arguments.push_back({DNNL_ARG_SHIFT, describe(*p.bias.tensor), p.bias.operand});
  plan.add(std::make_unique<PrimitiveStep>(plan, device, desc, dnnl::batch_normalization_forward(desc),
                                           std::move(arguments)));
  return implementation;
}

std::string by_kernel(const BatchNormProblem& p, Plan& plan) {
  int device = p.problem.device(), n = p.x.ndim;
  bool doubles = p.x.dtype == DType::f64 || p.y.dtype == DType::f64;
  reject_unless(is_float(p.x.dtype) && is_float(p.y.dtype), "only floats");
  reject_unless(!doubles || device_info(device).fp64, "this device has no f64");
  auto type = [](ExtraOperand e) { return e.tensor ? kernel_type(e.tensor->dtype) : "float"; };
  auto has = [](ExtraOperand e) { return e.tensor ? 1 : 0; };
  auto source =
      join("#define XPU_X ", kernel_type(p.x.dtype), "\n#define XPU_Y ", kernel_type(p.y.dtype),
           "\n#define XPU_SUM ", doubles ? "double" : "float", "\n#define XPU_NDIM ", n,
           "\n#define XPU_WEIGHT ", type(p.weight), "\n#define XPU_BIAS ", type(p.bias),
           "\n#define XPU_HAS_WEIGHT ", has(p.weight), "\n#define XPU_HAS_BIAS ", has(p.bias), "\n") +
      kernel_source("batch_norm.sycl");
  auto step = [](ExtraOperand e) { return e.tensor ? e.tensor->strides[0] : 0; };
  std::vector<std::int64_t> shape{p.x.numel()};
  for (auto* part : {p.x.shape, p.x.strides, p.y.strides}) shape.insert(shape.end(), part, part + n);
  for (auto value : {step(p.weight), step(p.bias), p.mean.strides[0], p.variance.strides[0]})
    shape.push_back(value);
  shape.push_back(static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(p.epsilon)));
  auto bytes = shape.size() * sizeof shape[0];
  constexpr std::size_t group = 128;
  if (p.training) {
    KernelArguments arguments;
    arguments.operand(0).operand(2).operand(3).bytes(shape.data(), bytes);
    plan.add(std::make_unique<KernelStep>(build_kernel(device, source, "statistics"),
                                          NdRange::linear(p.x.shape[1], group), std::move(arguments)));
  }
  KernelArguments arguments;
  arguments.operand(0).operand(1).operand(2).operand(3);
  for (auto& e : {p.weight, p.bias})
    if (e.tensor) arguments.operand(e.operand);
  arguments.bytes(shape.data(), bytes);
  auto groups = std::min<std::size_t>((p.x.numel() + group - 1) / group, 4096);
  plan.add(std::make_unique<KernelStep>(build_kernel(device, source, "normalize"),
                                        NdRange::linear(groups, group), std::move(arguments)));
  return batch_norm_name;
}

void check(const Tensor& x, const Tensor& y, const std::optional<Tensor>& weight,
           const std::optional<Tensor>& bias, const Tensor& mean, const Tensor& variance) {
  expect<UsageError>(x.ndim >= 2, "batch_norm: x is ", x, ", expected N C ...");
  auto channels = x.shape[1];
  require_shape_of(batch_norm_name, "y", y, x);
  require_shape(batch_norm_name, "weight", weight, {channels});
  require_shape(batch_norm_name, "bias", bias, {channels});
  require_shape(batch_norm_name, "mean", mean, {channels}, DType::f32);
  require_shape(batch_norm_name, "variance", variance, {channels}, DType::f32);
}

}  // namespace

void batch_norm(Stream stream, const Tensor& x, const Tensor& y, const std::optional<Tensor>& weight,
                const std::optional<Tensor>& bias, const Tensor& mean, const Tensor& variance, float epsilon,
                bool training) {
  check(x, y, weight, bias, mean, variance);
  BatchNormProblem p{x, y, mean, variance, epsilon, training, {batch_norm_name, stream.device()}, {}, {}, {}};
  for (auto* t : {&x, &y, &mean, &variance}) p.problem.add(*t);
  p.problem.real(epsilon);
  p.problem.number(training);
  p.weight = p.extras.add(p.problem, weight);
  p.bias = p.extras.add(p.problem, bias);
  if (y.numel() == 0) return;
  run(stream, p.problem, [&p] {
    return std::vector<Candidate>{{"onednn", [&p](Plan& plan) { return by_onednn(p, plan); }},
                                  {"sycl", [&p](Plan& plan) { return by_kernel(p, plan); }}};
  });
}

}  // namespace xpu::dnn

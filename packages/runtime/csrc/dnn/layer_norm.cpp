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

const char layer_norm_name[] = "layer_norm";

struct LayerNormProblem {
  const Tensor &x, &y;
  float epsilon;
  Problem problem;
  ExtraOperands extras;
  ExtraOperand weight, bias, mean, variance;
};

std::string by_onednn(const LayerNormProblem& p, Plan& plan) {
  using Flags = dnnl::normalization_flags;
  int device = p.problem.device();
  reject_unless(unsupported_reason(device).empty(), unsupported_reason(device));
  bool statistics = p.mean.tensor;
  reject_unless(statistics == (p.variance.tensor != nullptr), "only one of mean and variance is wanted");
  reject_unless(!p.weight.tensor || !p.bias.tensor || p.weight.tensor->dtype == p.bias.tensor->dtype,
                "weight and bias differ in type");
  auto flags = Flags::none;
  if (p.weight.tensor) flags |= Flags::use_scale;
  if (p.bias.tensor) flags |= Flags::use_shift;
  auto x = describe(p.x), y = describe(p.y);
  auto kind = statistics ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  auto weight_type = p.weight.tensor ? data_type_of(p.weight.tensor->dtype)
                     : p.bias.tensor ? data_type_of(p.bias.tensor->dtype)
                                     : dnnl::memory::data_type::f32;
  auto row = p.x;
  --row.ndim;
  row.dtype = DType::f32;
  auto statistics_desc = statistics ? describe(*p.mean.tensor) : any_layout(row);
  dnnl::layer_normalization_forward::primitive_desc desc(engine_of(device), kind, x, y, statistics_desc,
                                                         weight_type, p.epsilon, flags, basic_attributes());
  auto implementation = fast_implementation(desc);
  std::vector<PrimitiveStep::Argument> arguments{{DNNL_ARG_SRC, x, 0}, {DNNL_ARG_DST, y, 1}};
  auto add = [&](int id, ExtraOperand extra) {
    if (!extra.tensor) return;
    reject_unless(extra.tensor->contiguous(), "an operand is not contiguous");
    arguments.push_back({id, describe(*extra.tensor), extra.operand});
  };
  add(DNNL_ARG_SCALE, p.weight);
  add(DNNL_ARG_SHIFT, p.bias);
  add(DNNL_ARG_MEAN, p.mean);
  add(DNNL_ARG_VARIANCE, p.variance);
  plan.add(std::make_unique<PrimitiveStep>(plan, device, desc, dnnl::layer_normalization_forward(desc),
                                           std::move(arguments)));
  return implementation;
}

std::string by_kernel(const LayerNormProblem& p, Plan& plan) {
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
           "\n#define XPU_HAS_WEIGHT ", has(p.weight), "\n#define XPU_HAS_BIAS ", has(p.bias),
           "\n#define XPU_HAS_MEAN ", has(p.mean), "\n#define XPU_HAS_VARIANCE ", has(p.variance), "\n") +
      define_step("XPU_X_STEP", p.x.strides[n - 1], "s.x_step") +
      define_step("XPU_Y_STEP", p.y.strides[n - 1], "s.y_step") + kernel_source("layer_norm.sycl");
  auto step = [](ExtraOperand e) { return e.tensor ? e.tensor->strides[0] : 0; };
  std::vector<std::int64_t> shape{p.x.shape[n - 1], p.x.strides[n - 1], p.y.strides[n - 1], step(p.weight),
                                  step(p.bias)};
  for (int d = 0; d < n; ++d) shape.push_back(d == n - 1 ? 1 : p.x.shape[d]);
  for (auto* strides : {p.x.strides, p.y.strides}) shape.insert(shape.end(), strides, strides + n);
  for (auto& e : {p.mean, p.variance})
    for (int d = 0; d < n; ++d) shape.push_back(e.tensor && d < n - 1 ? e.tensor->strides[d] : 0);
  shape.push_back(std::bit_cast<std::int32_t>(p.epsilon));
  KernelArguments arguments;
  arguments.operand(0).operand(1);
  for (auto& e : {p.weight, p.bias, p.mean, p.variance})
    if (e.tensor) arguments.operand(e.operand);
  arguments.bytes(shape.data(), shape.size() * sizeof shape[0]);
  auto rows = static_cast<std::size_t>(p.x.numel() / p.x.shape[n - 1]);
  plan.add(std::make_unique<KernelStep>(build_kernel(device, source, layer_norm_name),
                                        NdRange::linear(rows, row_group(device)), std::move(arguments)));
  return layer_norm_name;
}

void check(const Tensor& x, const Tensor& y, const std::optional<Tensor>& weight,
           const std::optional<Tensor>& bias, const std::optional<Tensor>& mean,
           const std::optional<Tensor>& variance) {
  expect<UsageError>(x.ndim >= 1, "layer_norm: x is ", x, ", expected one or more dimensions");
  auto outer = static_cast<std::size_t>(x.ndim - 1);
  auto length = x.shape[outer];
  require_shape_of(layer_norm_name, "y", y, x);
  require_shape(layer_norm_name, "weight", weight, {length});
  require_shape(layer_norm_name, "bias", bias, {length});
  require_shape(layer_norm_name, "mean", mean, Sizes(x.shape, outer), DType::f32);
  require_shape(layer_norm_name, "variance", variance, Sizes(x.shape, outer), DType::f32);
}

}  // namespace

void layer_norm(Stream stream, const Tensor& x, const Tensor& y, const std::optional<Tensor>& weight,
                const std::optional<Tensor>& bias, const std::optional<Tensor>& mean,
                const std::optional<Tensor>& variance, float epsilon) {
  check(x, y, weight, bias, mean, variance);
  LayerNormProblem p{x, y, epsilon, {layer_norm_name, stream.device()}, {}, {}, {}, {}, {}};
  p.problem.add(x);
  p.problem.add(y);
  p.problem.real(epsilon);
  p.weight = p.extras.add(p.problem, weight);
  p.bias = p.extras.add(p.problem, bias);
  p.mean = p.extras.add(p.problem, mean);
  p.variance = p.extras.add(p.problem, variance);
  if (y.numel() == 0) return;
  run(stream, p.problem, [&p] {
    return std::vector<Candidate>{{"onednn", [&p](Plan& plan) { return by_onednn(p, plan); }},
                                  {"sycl", [&p](Plan& plan) { return by_kernel(p, plan); }}};
  });
}

}  // namespace xpu::dnn

#include "compile/source/embedded.h"
#include "dnn/candidates.h"
#include "dnn/kernel_step.h"
#include "dnn/operand_checks.h"
#include "xpu/device.h"
#include "xpu/dnn/normalization.h"

namespace xpu::dnn {
namespace {

const char softmax_name[] = "softmax";

struct SoftmaxProblem {
  const Tensor &x, &y;
  int axis;
  bool log;
  Problem problem;
};

std::string by_kernel(const SoftmaxProblem& p, Plan& plan) {
  int device = p.problem.device(), n = p.x.ndim;
  bool doubles = p.x.dtype == DType::f64 || p.y.dtype == DType::f64;
  reject_unless(is_float(p.x.dtype) && is_float(p.y.dtype), "only floats");
  reject_unless(!doubles || device_info(device).fp64, "this device has no f64");
  auto source = join("#define XPU_X ", kernel_type(p.x.dtype), "\n#define XPU_Y ", kernel_type(p.y.dtype),
                     "\n#define XPU_SUM ", doubles ? "double" : "float", "\n#define XPU_NDIM ", n,
                     "\n#define XPU_LOG ", p.log, "\n") +
                define_step("XPU_X_STEP", p.x.strides[p.axis], "s.x_step") +
                define_step("XPU_Y_STEP", p.y.strides[p.axis], "s.y_step") + kernel_source("softmax.sycl");
  std::vector<std::int64_t> shape{p.x.shape[p.axis], p.x.strides[p.axis], p.y.strides[p.axis]};
  for (int d = 0; d < n; ++d) shape.push_back(d == p.axis ? 1 : p.x.shape[d]);
  for (auto* strides : {p.x.strides, p.y.strides}) shape.insert(shape.end(), strides, strides + n);
  auto rows = static_cast<std::size_t>(p.x.numel() / p.x.shape[p.axis]);
  KernelArguments arguments;
  arguments.operand(0).operand(1).bytes(shape.data(), shape.size() * sizeof shape[0]);
  plan.add(std::make_unique<KernelStep>(build_kernel(device, source, softmax_name),
                                        NdRange::linear(rows, row_group(device)), std::move(arguments)));
  return softmax_name;
}

}  // namespace

// oneDNN's softmax is no candidate: it turns some elements of a row with a NaN into numbers.
void softmax(Stream stream, const Tensor& x, const Tensor& y, int axis, bool log) {
  require_shape_of(softmax_name, "y", y, x);
  expect<UsageError>(axis >= -x.ndim && axis < x.ndim, "softmax: axis ", axis, " is not one of ", x);
  SoftmaxProblem p{x, y, axis < 0 ? axis + x.ndim : axis, log, {softmax_name, stream.device()}};
  p.problem.add(x);
  p.problem.add(y);
  p.problem.number(p.axis * 2 + log);
  if (y.numel() == 0) return;
  run(stream, p.problem, [&p] {
    return std::vector<Candidate>{{"sycl", [&p](Plan& plan) { return by_kernel(p, plan); }}};
  });
}

}  // namespace xpu::dnn

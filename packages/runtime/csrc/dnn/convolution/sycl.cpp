#include <algorithm>

#include "compile/source/embedded.h"
#include "dnn/candidates.h"
#include "dnn/convolution/problem.h"
#include "xpu/device.h"

namespace xpu::dnn {
namespace {

// As kernels/convolution.sycl declares it.
struct Shape {
  std::int64_t n, groups, x_channels, y_channels;
  std::int64_t x_size[3], y_size[3], kernel[3], stride[3], dilation[3], padding[3];
  std::int64_t x[5], y[5], w[6], bias;
};

// Copies the given dimensions to the end of three; the others become `otherwise`.
void pad_dims(std::int64_t* to, const std::int64_t* from, int spatial, std::int64_t otherwise) {
  for (int d = 0; d < 3; ++d) to[d] = d < 3 - spatial ? otherwise : from[d - 3 + spatial];
}

Shape shape_of(const ConvProblem& p) {
  Shape s{};
  s.n = p.x.shape[0];
  s.groups = p.groups;
  s.x_channels = p.x.shape[1] / p.groups;
  s.y_channels = p.y.shape[1] / p.groups;
  pad_dims(s.x_size, p.x.shape + 2, p.spatial, 1);
  pad_dims(s.y_size, p.y.shape + 2, p.spatial, 1);
  pad_dims(s.kernel, p.w.shape + 2, p.spatial, 1);
  pad_dims(s.stride, p.stride, p.spatial, 1);
  pad_dims(s.dilation, p.dilation, p.spatial, 1);
  pad_dims(s.padding, p.padding_l, p.spatial, 0);
  for (int d = 0; d < 2; ++d) {
    s.x[d] = p.x.strides[d];
    s.y[d] = p.y.strides[d];
    s.w[d + 1] = p.w.strides[d];
  }
  s.w[0] = p.w.strides[0] * s.y_channels;
  pad_dims(s.x + 2, p.x.strides + 2, p.spatial, 0);
  pad_dims(s.y + 2, p.y.strides + 2, p.spatial, 0);
  pad_dims(s.w + 3, p.w.strides + 2, p.spatial, 0);
  if (p.bias.tensor) s.bias = p.bias.tensor->strides[0];
  return s;
}

struct ConvTypes {
  const char *sum, *step;
};

ConvTypes types_of(const ConvProblem& p) {
  bool has_double = false, has_float = false, has_64 = false;
  for (auto* t : {&p.x, &p.w, &p.y}) {
    reject_unless(!is_complex(t->dtype), "complex numbers");
    has_double |= t->dtype == DType::f64;
    has_64 |= size_of(t->dtype) == 8;
    has_float |= is_float(t->dtype) && t != &p.result();
  }
  reject_unless(!has_double || device_info(p.problem.device()).fp64, "this device has no f64");
  if (has_double) return {"double", "double"};
  if (has_float || p.is_quantized()) return {"float", "float"};
  const char* sum = has_64 ? "xpu::i64" : "xpu::i32";
  return {sum, p.is_plain() && !is_float(p.result().dtype) ? sum : "float"};
}

}  // namespace

std::string conv_sycl(const ConvProblem& p, Plan& plan) {
  auto types = types_of(p);
  auto epilogue = conv_epilogue(p, types.step, false);
  auto& source = p.sum == ConvSum::x ? p.y : p.x;
  bool dequantize_source = p.forward && p.options.src, dequantize_weights = p.forward && p.options.weights;
  if (dequantize_source) epilogue.dequantize("xpu_src", source, p.scale_src, p.zero_src);
  if (dequantize_weights) epilogue.dequantize("xpu_w", p.w, p.scale_weights, p.zero_weights);
  bool of_x = p.options.transposed;
  auto text =
      epilogue.source() +
      join("#define XPU_X ", kernel_type(p.x.dtype), "\n#define XPU_W ", kernel_type(p.w.dtype),
           "\n#define XPU_Y ", kernel_type(p.y.dtype), "\n#define XPU_SUM ", types.sum, "\n#define XPU_NDIM ",
           p.x.ndim, "\n#define XPU_DEQUANT_SRC ", dequantize_source, "\n#define XPU_DEQUANT_W ",
           dequantize_weights, "\n#define XPU_READS_RESULT ", epilogue.reads_result(),
           "\n#define XPU_GRAD_IS_X ", of_x, "\n#define XPU_GRAD ", of_x ? "XPU_X" : "XPU_Y",
           "\n#define XPU_BIAS ", p.bias.tensor ? kernel_type(p.bias.tensor->dtype) : "float", "\n") +
      kernel_source("convolution.sycl");
  auto shape = shape_of(p);
  int device = p.problem.device();
  auto add = [&](const char* name, NdRange range, KernelArguments arguments) {
    plan.add(std::make_unique<KernelStep>(build_kernel(device, text, name), range, std::move(arguments)));
  };
  constexpr std::size_t group = 64;
  KernelArguments arguments;
  if (p.sum != ConvSum::w) {
    arguments.operand(0).operand(1).operand(2).value(shape).append(epilogue.arguments());
    const char* name = p.sum == ConvSum::y ? "sum_y" : "sum_x";
    add(name, NdRange::linear((static_cast<std::size_t>(p.result().numel()) + group - 1) / group, group),
        std::move(arguments));
    return name;
  }
  arguments.operand(0).operand(1).operand(2).value(shape);
  add("sum_w", NdRange::linear(static_cast<std::size_t>(p.w.numel()), group), std::move(arguments));
  if (p.bias.tensor) {
    KernelArguments of_bias;
    of_bias.operand(of_x ? 0 : 2).operand(p.bias.operand).value(shape);
    add("sum_bias", NdRange::linear(static_cast<std::size_t>(p.bias.tensor->numel()), group),
        std::move(of_bias));
  }
  return "sum_w";
}

}  // namespace xpu::dnn

#include "compile/source/embedded.h"
#include "dnn/candidates.h"
#include "dnn/matmul/problem.h"
#include "xpu/device.h"

namespace xpu::dnn {
namespace {

constexpr std::int64_t tile = 64, items = 16;

// The types of the sum, and of the steps around it.
struct Types {
  const char *sum, *step;
};

Types types_of(const MatmulProblem& p) {
  for (auto* t : {&p.a, &p.b, &p.c}) reject_unless(!is_complex(t->dtype), "complex numbers");
  if (p.a.dtype == DType::f64 || p.b.dtype == DType::f64 || p.c.dtype == DType::f64) {
    reject_unless(device_info(p.problem.device()).fp64, "this device has no f64");
    return {"double", "double"};
  }
  bool integers = !is_float(p.a.dtype) && !is_float(p.b.dtype);
  bool quantized = p.options.a || p.options.b;
  if (quantized || !integers) return {"float", "float"};
  const char* sum = size_of(p.c.dtype) == 8 ? "xpu::i64" : "xpu::i32";
  return {sum, !p.options.post_ops.empty() || p.options.c || is_float(p.c.dtype) ? "float" : sum};
}

Tensor batch_strides(Tensor t) {
  for (int d = 0; d < t.ndim - 2; ++d)
    if (t.shape[d] == 1) t.strides[d] = 0;
  return t;
}

}  // namespace

std::string matmul_sycl(const MatmulProblem& p, Plan& plan) {
  auto types = types_of(p);
  int n = p.c.ndim;
  auto epilogue = matmul_epilogue(p, types.step, false);
  if (p.options.a) epilogue.dequantize("xpu_a", p.a, p.scale_a, p.zero_a);
  if (p.options.b) epilogue.dequantize("xpu_b", p.b, p.scale_b, p.zero_b, p.offset_b);

  std::string source =
      epilogue.source() +
      join(p.b.dtype == DType::f4 ? "#include <xpu/minifloat.h>\n" : "", "#define XPU_A ",
           kernel_type(p.a.dtype), "\n#define XPU_B ", kernel_type(p.b.dtype), "\n#define XPU_C ",
           kernel_type(p.c.dtype), "\n#define XPU_SUM ", types.sum, "\n#define XPU_NDIM ", n,
           "\n#define XPU_DEQUANT_A ", bool(p.options.a), "\n#define XPU_DEQUANT_B ", bool(p.options.b),
           "\n#define XPU_READS_RESULT ", epilogue.reads_result(), "\n") +
      kernel_source("matmul.sycl");
  std::vector<std::int64_t> shape{p.m(), p.n(), p.k()};
  shape.insert(shape.end(), p.c.shape, p.c.shape + n);
  for (auto& t : {batch_strides(p.a), batch_strides(p.b), p.c})
    shape.insert(shape.end(), t.strides, t.strides + n);

  auto groups = (p.m() + tile - 1) / tile * ((p.n() + tile - 1) / tile);
  for (int d = 0; d < n - 2; ++d) groups *= p.c.shape[d];

  KernelArguments arguments;
  arguments.operand(0)
      .operand(1)
      .operand(2)
      .bytes(shape.data(), shape.size() * sizeof shape[0])
      .append(epilogue.arguments());
  // Devices allow more groups in the last dimension than in others.
  NdRange range{2, {items, static_cast<std::size_t>(groups * items)}, {items, items}};
  plan.add(std::make_unique<KernelStep>(build_kernel(p.problem.device(), source, "matmul"), range,
                                        std::move(arguments)));
  return "matmul";
}

}  // namespace xpu::dnn

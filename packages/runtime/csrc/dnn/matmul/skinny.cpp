#include "compile/embedded.h"
#include "dnn/candidates.h"
#include "dnn/matmul/low_bit_weights.h"
#include "dnn/matmul/problem.h"
#include "xpu/device.h"
#include "xpu/dnn/plans.h"

namespace xpu::dnn {
namespace {

constexpr std::int64_t max_rows = 4, columns = 4;

void check(const MatmulProblem& p) {
  auto type = p.a.dtype;
  reject_unless(p.m() <= max_rows, "more than ", max_rows, " rows");
  reject_unless(is_float(type) && type != DType::f64 && is_float(p.c.dtype) && p.c.dtype != DType::f64,
                "only floats of up to 32 bits by low-bit weights");
  // On a GPU oneDNN has kernels for this; on a CPU it converts all weights first.
  int device = p.problem.device();
  reject_unless(!device_info(device).is_gpu || !onednn_matmul_unsupported_reason(device).empty(),
                "oneDNN has kernels for this on a GPU");
  bool scale_fits = !p.scale_a.tensor || p.scale_a.tensor->ndim == 0 || p.scale_a.tensor->shape[1] == 1;
  reject_unless(scale_fits && !p.zero_a.tensor, "a's scale changes along k, or a has a zero point");
}

}  // namespace

std::string matmul_skinny(const MatmulProblem& p, Plan& plan) {
  LowBitWeights w(p);
  check(p);
  int device = p.problem.device();
  Epilogue epilogue(2, "float");
  epilogue.multiply(p.scale_a);
  epilogue.add(p.bias);
  for (std::size_t i = 0; i < p.options.post_ops.size(); ++i)
    epilogue.apply(p.options.post_ops[i], p.post_ops.operand(i));
  epilogue.quantize(p.c, p.scale_c, p.zero_c);
  auto lanes = device_info(device).sub_group_size;
  std::string source =
      epilogue.source() + w.defines(p) +
      join("#define XPU_A ", kernel_type(p.a.dtype), "\n#define XPU_C ", kernel_type(p.c.dtype),
           "\n#define XPU_ROWS ", p.m(), "\n#define XPU_READS_RESULT ", epilogue.reads_result(), "\n") +
      std::string(kernel_source("matmul_skinny.sycl"));

  auto count = p.m() * p.k();
  int rows = plan.add_scratch(static_cast<std::size_t>(count) * sizeof(float));
  constexpr std::int64_t group = 256;
  KernelArguments conversion;
  std::int64_t of_a[] = {count, p.k(), p.a.strides[0], p.a.strides[1]};
  conversion.operand(0).operand(rows).bytes(of_a, sizeof of_a);
  plan.add(std::make_unique<KernelStep>(build_kernel(device, source, "convert_rows"),
                                        NdRange::linear((count + group - 1) / group, group),
                                        std::move(conversion)));

  std::int64_t shape[] = {p.n(),      p.k(),     w.groups,  w.group_bytes,  w.column,      w.scale[0],
                          w.scale[1], w.zero[0], w.zero[1], p.c.strides[0], p.c.strides[1]};
  KernelArguments arguments;
  arguments.operand(rows).operand(1).operand(2);
  w.add_operands(arguments, p, rows).bytes(shape, sizeof shape).append(epilogue.arguments());
  plan.add(std::make_unique<KernelStep>(build_kernel(device, source, "matmul_skinny"),
                                        NdRange::linear((p.n() + columns - 1) / columns, lanes),
                                        std::move(arguments)));
  return "matmul_skinny";
}

}  // namespace xpu::dnn

#include <algorithm>

#include "compile/embedded.h"
#include "dnn/candidates.h"
#include "dnn/matmul_problem.h"
#include "xpu/device.h"
#include "xpu/dnn/plans.h"

namespace xpu::dnn {
namespace {

constexpr std::int64_t most_rows = 4, columns = 4;

bool packed(DType t) {
  return t == DType::u4 || t == DType::i4;
}
bool eight_bits(DType t) {
  return t == DType::u8 || t == DType::i8 || t == DType::f8e4m3 || t == DType::f8e5m2;
}

// How many scales or zero points there are along what is summed over, and how far apart; the same of columns.
struct Spread {
  std::int64_t groups = 1, strides[2] = {};

  explicit Spread(Extra extra) {
    if (!extra.tensor || extra.tensor->ndim == 0) return;
    auto& t = *extra.tensor;
    groups = t.shape[0];
    for (int d = 0; d < 2; ++d) strides[d] = t.shape[d] == 1 ? 0 : t.strides[d];
  }
};

void check(const MatmulProblem& p) {
  auto type = p.a.dtype;
  refuse_unless(p.c.ndim == 2, "batches");
  refuse_unless(p.m() <= most_rows, "more than ", most_rows, " rows");
  refuse_unless(is_float(type) && type != DType::f64 && is_float(p.c.dtype) && p.c.dtype != DType::f64,
                "only floats of up to 32 bits by small weights");
  refuse_unless(packed(p.b.dtype) || eight_bits(p.b.dtype), "only weights of eight or four bits");
  refuse_unless(p.k() > 0 && p.b.strides[0] == 1, "the weights' columns are not dense");
  refuse_unless(!packed(p.b.dtype) || (p.k() % 2 == 0 && p.b.strides[1] % 2 == 0), "half a byte");
  // A GPU's oneDNN has kernels of its own for this; on a CPU it converts all weights first.
  int device = p.problem.device();
  refuse_unless(!device_info(device).is_gpu || !onednn_matmul_refusal(device).empty(),
                "oneDNN's is meant for it");
  bool along_rows = !p.scale_a.tensor || p.scale_a.tensor->ndim == 0 || p.scale_a.tensor->shape[1] == 1;
  refuse_unless(along_rows && !p.zero_a.tensor, "a's scale changes along what is summed over");
  Spread scale(p.scale_b), zero(p.zero_b);
  auto groups = std::max(scale.groups, zero.groups);
  refuse_unless((scale.groups == 1 || scale.groups == groups) && (zero.groups == 1 || zero.groups == groups),
                "groups of scales and of zero points differ");
  refuse_unless(!packed(p.b.dtype) || p.k() / groups % 2 == 0, "groups of an odd length");
}

}  // namespace

std::string matmul_rows(const MatmulProblem& p, Plan& plan) {
  check(p);
  int device = p.problem.device();
  Epilogue epilogue(2, "float");
  epilogue.multiply(p.scale_a);
  epilogue.add(p.bias);
  for (std::size_t i = 0; i < p.options.post_ops.size(); ++i)
    epilogue.apply(p.options.post_ops[i], p.post_ops.operand(i));
  epilogue.quantize(p.c, p.scale_c, p.zero_c);
  Spread scale(p.scale_b), zero(p.zero_b);
  auto groups = std::max(scale.groups, zero.groups), each = p.k() / groups / (packed(p.b.dtype) ? 2 : 1);
  auto lanes = static_cast<std::int64_t>(device_info(device).sub_group_size);
  auto type_of = [](Extra extra) { return extra.tensor ? kernel_type(extra.tensor->dtype) : "float"; };
  std::string source =
      epilogue.source() +
      join("#define XPU_A ", kernel_type(p.a.dtype), "\n#define XPU_B ", kernel_type(p.b.dtype),
           "\n#define XPU_C ", kernel_type(p.c.dtype), "\n#define XPU_ROWS ", p.m(), "\n#define XPU_PACKED ",
           packed(p.b.dtype), "\n#define XPU_SCALE ", type_of(p.scale_b), "\n#define XPU_ZERO ",
           type_of(p.zero_b), "\n#define XPU_HAS_SCALE ", p.scale_b.tensor != nullptr,
           "\n#define XPU_HAS_ZERO ", p.zero_b.tensor != nullptr, "\n#define XPU_WHOLE ", each % lanes == 0,
           "\n#define XPU_READS_RESULT ", epilogue.reads_result(), "\n") +
      std::string(kernel_source("matmul_rows.sycl"));

  auto count = p.m() * p.k();
  int rows = plan.temporary(static_cast<std::size_t>(count) * sizeof(float));
  constexpr std::int64_t group = 256;
  KernelArguments spread;
  std::int64_t of_a[] = {count, p.k(), p.a.strides[0], p.a.strides[1]};
  spread.operand(0).operand(rows).bytes(of_a, sizeof of_a);
  plan.add(std::make_unique<KernelStep>(build_kernel(device, source, "spread_rows"),
                                        NdRange::linear((count + group - 1) / group, group),
                                        std::move(spread)));

  KernelArguments arguments;
  std::int64_t shape[] = {p.n(),
                          p.k(),
                          groups,
                          p.b.strides[1] / (packed(p.b.dtype) ? 2 : 1),
                          scale.strides[0],
                          scale.strides[1],
                          zero.strides[0],
                          zero.strides[1],
                          p.c.strides[0],
                          p.c.strides[1]};
  // What is not there is not read.
  auto or_any = [&](Extra extra) { return extra.tensor ? extra.operand : rows; };
  arguments.operand(rows).operand(1).operand(2).operand(or_any(p.scale_b)).operand(or_any(p.zero_b));
  arguments.bytes(shape, sizeof shape).append(epilogue.arguments());
  plan.add(std::make_unique<KernelStep>(
      build_kernel(device, source, "matmul_rows"),
      NdRange::linear((p.n() + columns - 1) / columns, device_info(device).sub_group_size),
      std::move(arguments)));
  return "matmul_rows";
}

}  // namespace xpu::dnn

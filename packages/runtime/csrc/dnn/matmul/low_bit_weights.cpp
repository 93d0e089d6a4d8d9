#include "dnn/matmul/low_bit_weights.h"

#include <algorithm>

#include "compile/embedded.h"
#include "dnn/candidates.h"
#include "xpu/device.h"

namespace xpu::dnn {
namespace {

bool eight_bits(DType t) {
  return t == DType::u8 || t == DType::i8 || t == DType::f8e4m3 || t == DType::f8e5m2;
}

// Sets the strides along groups and columns; returns the number of groups.
std::int64_t set_group_strides(ExtraOperand extra, std::int64_t (&strides)[2]) {
  if (!extra.tensor || extra.tensor->ndim == 0) return 1;
  auto& t = *extra.tensor;
  for (int d = 0; d < 2; ++d) strides[d] = t.shape[d] == 1 ? 0 : t.strides[d];
  return t.shape[0];
}

}  // namespace

LowBitWeights::LowBitWeights(const MatmulProblem& p)
    : packed(p.b.dtype == DType::u4 || p.b.dtype == DType::i4) {
  reject_unless(p.c.ndim == 2, "batches");
  reject_unless(packed || eight_bits(p.b.dtype), "only weights of eight or four bits");
  reject_unless(p.k() > 0 && p.b.strides[0] == 1, "the weights' columns are not dense");
  reject_unless(!packed || (p.k() % 2 == 0 && p.b.strides[1] % 2 == 0),
                "a column of packed weights is not whole bytes");
  auto scales = set_group_strides(p.scale_b, scale), zeros = set_group_strides(p.zero_b, zero);
  groups = std::max(scales, zeros);
  reject_unless((scales == 1 || scales == groups) && (zeros == 1 || zeros == groups),
                "groups of scales and of zero points differ");
  auto numbers = packed ? 2 : 1;
  reject_unless(p.k() / groups % numbers == 0, "groups of an odd length");
  group_bytes = p.k() / groups / numbers;
  column = p.b.strides[1] / numbers;
}

std::string LowBitWeights::defines(const MatmulProblem& p) const {
  auto type_of = [](ExtraOperand extra) { return extra.tensor ? kernel_type(extra.tensor->dtype) : "float"; };
  auto lanes = static_cast<std::int64_t>(device_info(p.problem.device()).sub_group_size);
  return join("#define XPU_B ", kernel_type(p.b.dtype), "\n#define XPU_PACKED ", packed,
              "\n#define XPU_SCALE ", type_of(p.scale_b), "\n#define XPU_ZERO ", type_of(p.zero_b),
              "\n#define XPU_HAS_SCALE ", p.scale_b.tensor != nullptr, "\n#define XPU_HAS_ZERO ",
              p.zero_b.tensor != nullptr, "\n#define XPU_LANES_DIVIDE_GROUP ", group_bytes % lanes == 0,
              "\n");
}

KernelArguments& LowBitWeights::add_operands(KernelArguments& arguments, const MatmulProblem& p,
                                             int any) const {
  for (auto& extra : {p.scale_b, p.zero_b}) arguments.operand(extra.tensor ? extra.operand : any);
  return arguments;
}

Tensor widen_weights(Plan& plan, const MatmulProblem& p, DType dtype, int& operand) {
  LowBitWeights w(p);
  int device = p.problem.device();
  Tensor to = p.b;
  to.dtype = dtype;
  to.strides[1] = p.k();
  auto source = w.defines(p) + join("#define XPU_TO ", kernel_type(dtype), "\n") +
                std::string(kernel_source("widen_weights.sycl"));
  int copy = plan.add_scratch(static_cast<std::size_t>(to.numel()) * size_of(dtype));
  std::int64_t shape[] = {p.k(),      w.groups,   w.group_bytes, w.column,
                          w.scale[0], w.scale[1], w.zero[0],     w.zero[1]};
  KernelArguments arguments;
  arguments.operand(operand).operand(copy);
  w.add_operands(arguments, p, copy).bytes(shape, sizeof shape);
  plan.add(std::make_unique<KernelStep>(build_kernel(device, source, "widen_weights"),
                                        NdRange::linear(p.n(), device_info(device).sub_group_size),
                                        std::move(arguments)));
  operand = copy;
  return to;
}

}  // namespace xpu::dnn

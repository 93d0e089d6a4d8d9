#include "dnn/matmul/low_bit_weights.h"

#include <algorithm>

#include "compile/source/embedded.h"
#include "dnn/candidates.h"
#include "dnn/transposed.h"
#include "xpu/device.h"

namespace xpu::dnn {
namespace {

bool has_eight_bits(DType t) {
  return t == DType::u8 || t == DType::i8 || t == DType::f8e4m3 || t == DType::f8e5m2;
}
bool has_sixteen_bits(DType t) {
  return t == DType::bf16 || t == DType::f16;
}

}  // namespace

bool is_packed(DType dtype) {
  return size_of(dtype) == 0;
}

LowBitWeights::LowBitWeights(const Tensor& of, ExtraOperand scales, ExtraOperand zeros, ExtraOperand offsets,
                             bool extras_are_transposed)
    : numbers(of), packed(is_packed(of.dtype)), scales_(scales), zeros_(zeros), offsets_(offsets) {
  reject_unless(of.ndim == 2, "batches");
  reject_unless(packed || has_eight_bits(of.dtype) || has_sixteen_bits(of.dtype),
                "only weights of four, eight or sixteen bits");
  auto k = of.shape[0];
  reject_unless(k > 0 && of.strides[0] == 1, "the weights' columns are not dense");
  reject_unless(!packed || (k % 2 == 0 && of.strides[1] % 2 == 0),
                "a column of packed weights is not whole bytes");
  column = packed ? of.strides[1] / 2 : of.strides[1] * static_cast<std::int64_t>(size_of(of.dtype));
  std::int64_t counts[] = {set_strides(scales, extras_are_transposed, scale),
                           set_strides(zeros, extras_are_transposed, zero),
                           set_strides(offsets, extras_are_transposed, offset)};
  groups = *std::ranges::max_element(counts);
  for (auto count : counts)
    reject_unless(count == 1 || count == groups, "groups of scales, zero points and offsets differ");
  group_length = k / groups;
  reject_unless(!packed || group_length % 2 == 0, "groups of an odd length");
}

// Sets the strides along groups and columns; returns the number of groups.
std::int64_t LowBitWeights::set_strides(ExtraOperand extra, bool is_transposed,
                                        std::int64_t (&strides)[2]) const {
  if (!extra.tensor || extra.tensor->ndim == 0) return 1;
  auto t = is_transposed ? transposed(*extra.tensor) : *extra.tensor;
  reject_unless(t.shape[1] == 1 || t.shape[1] == numbers.shape[1], "columns share scales");
  for (int d = 0; d < 2; ++d) strides[d] = t.shape[d] == 1 ? 0 : t.strides[d];
  return t.shape[0];
}

LowBitWeights LowBitWeights::of_a(const MatmulProblem& p) {
  reject_unless(p.a.ndim == 2, "batches");
  return LowBitWeights(transposed(p.a), p.scale_a, p.zero_a, {}, true);
}

LowBitWeights LowBitWeights::of_b(const MatmulProblem& p) {
  reject_unless(p.c.ndim == 2, "batches");
  return LowBitWeights(p.b, p.scale_b, p.zero_b, p.offset_b);
}

bool LowBitWeights::has_dense_scales() const {
  return (!scales_.tensor || scale[0] == 1) && (!zeros_.tensor || zero[0] == 1) &&
         (!offsets_.tensor || offset[0] == 1);
}

std::string LowBitWeights::defines() const {
  std::string text =
      join("#define XPU_B ", kernel_type(numbers.dtype), "\n#define XPU_PACKED ", packed, "\n");
  auto describe = [&](const char* name, ExtraOperand extra) {
    text += join("#define XPU_HAS_", name, " ", extra.tensor != nullptr, "\n#define XPU_", name, " ",
                 extra.tensor ? kernel_type(extra.tensor->dtype) : "float", "\n");
  };
  describe("SCALE", scales_);
  describe("ZERO", zeros_);
  describe("OFFSET", offsets_);
  return text;
}

KernelArguments& LowBitWeights::add_operands(KernelArguments& arguments, int any) const {
  for (auto& extra : {scales_, zeros_, offsets_}) arguments.operand(extra.tensor ? extra.operand : any);
  return arguments;
}

bool onednn_reads_weights(const MatmulProblem& p) {
  if (p.offset_b.tensor || p.b.dtype == DType::f4) return false;
  bool takes_scale =
      !p.scale_b.tensor || (p.scale_b.tensor->dtype == DType::f32 && p.scale_b.tensor->contiguous());
  return takes_scale && (!p.zero_b.tensor || p.zero_b.tensor->contiguous());
}

void add_widening(Plan& plan, int device, const LowBitWeights& w, DType dtype, int from, int to) {
  auto lanes = static_cast<std::int64_t>(device_info(device).sub_group_size);
  auto group_bytes = w.packed ? w.group_length / 2 : w.group_length;
  auto source = w.defines() +
                join("#define XPU_TO ", kernel_type(dtype), "\n#define XPU_LANES_DIVIDE_GROUP ",
                     group_bytes % lanes == 0, "\n") +
                kernel_source("widen_weights.sycl");
  std::int64_t shape[] = {w.numbers.shape[0], w.groups,  group_bytes, w.column,    w.scale[0],
                          w.scale[1],         w.zero[0], w.zero[1],   w.offset[0], w.offset[1]};
  KernelArguments arguments;
  arguments.operand(from).operand(to);
  w.add_operands(arguments, to).bytes(shape, sizeof shape);
  plan.add(std::make_unique<KernelStep>(build_kernel(device, source, "widen_weights"),
                                        NdRange::linear(w.numbers.shape[1], lanes), std::move(arguments)));
}

Tensor widen_weights(Plan& plan, int device, const LowBitWeights& w, DType dtype, int& operand) {
  Tensor to = w.numbers;
  to.dtype = dtype;
  to.strides[1] = to.shape[0];
  int copy = plan.add_scratch(static_cast<std::size_t>(to.numel()) * size_of(dtype));
  add_widening(plan, device, w, dtype, operand, copy);
  operand = copy;
  return to;
}

}  // namespace xpu::dnn

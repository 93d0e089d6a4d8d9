// Products with weights of eight and four bits.
//
// Four-bit weights are packed as PyTorch's xpu convention has it: [N, K / 8] words, the lowest four bits for
// the first number, which is the byte order of the [N, K / 2] bytes they are made of.
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <torch/library.h>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/dnn/gemm.h"
#include "ops/tensor.h"

namespace torch_xpu {
namespace {

using at::Tensor;

void check_activations(const Tensor& a) {
  TORCH_CHECK(a.dim() == 2, "x must be a 2D tensor");
  TORCH_CHECK(
      a.scalar_type() == at::kFloat || a.scalar_type() == at::kHalf || a.scalar_type() == at::kBFloat16,
      "expected x to be f32/f16/bf16, got ", a.scalar_type());
}

// a @ weights, whose numbers mean what `options` says.
Tensor product(const Tensor& a, const xpu::Tensor& weights, xpu::dnn::MatmulOptions options) {
  auto c = at::empty({a.size(0), weights.shape[1]}, a.options());
  if (a.size(1) == 0) return c.zero_();
  translate_errors([&] { xpu::dnn::matmul(stream_of(a), view_of(a), weights, view_of(c), options); });
  return c;
}

Tensor weight_int8pack_mm(const Tensor& a, const Tensor& b, const Tensor& scales) {
  auto guard = guard_for(a, b);
  check_one_device(a, b, scales);
  check_activations(a);
  TORCH_CHECK(b.dim() == 2 && b.scalar_type() == at::kChar, "expected w to be a 2D int8 tensor, got ",
              b.scalar_type(), " of shape ", b.sizes());
  TORCH_CHECK(a.size(1) == b.size(1), "expected w.size(1) (", b.size(1), ") == x.size(1) (", a.size(1), ")");
  TORCH_CHECK(scales.dim() == 1 && scales.size(0) == b.size(0), "expected scales to be 1D with size ",
              b.size(0), ", got shape ", scales.sizes());
  auto options = matmul_options();
  auto scale = scales.to(at::kFloat).contiguous().unsqueeze(0);
  options.b.scale = view_of(scale);
  return product(a, view_of(b.t()), options);
}

Tensor convert_weight_to_int4pack(const Tensor& weights, std::int64_t inner_k_tiles) {
  auto guard = guard_for(weights);
  TORCH_CHECK(weights.dim() == 2, "expected a matrix of packed weights, got ", weights.dim(), " dimensions");
  TORCH_CHECK(weights.scalar_type() == at::kByte, "expected weights packed two to a uint8, got ",
              weights.scalar_type());
  TORCH_CHECK(inner_k_tiles == 2 || inner_k_tiles == 4 || inner_k_tiles == 8,
              "innerKTiles need to be 2, 4, or 8, got ", inner_k_tiles);
  TORCH_CHECK(weights.size(1) % 4 == 0, "expected rows of a multiple of 8 weights, got ",
              2 * weights.size(1));
  return weights.clone(at::MemoryFormat::Contiguous).view(at::kInt);
}

// The runtime's view of packed weights, as [K, N].
xpu::Tensor unpacked(const Tensor& packed) {
  std::int64_t n = packed.size(0), k = packed.size(1) * 8;
  std::int64_t shape[] = {k, n}, strides[] = {1, k};
  return {view_of(packed).data, xpu::DType::u4, 2, shape, strides};
}

void check_int4(const Tensor& a, const Tensor& packed, std::int64_t group) {
  check_activations(a);
  TORCH_CHECK(packed.dim() == 2 && packed.scalar_type() == at::kInt && packed.is_contiguous(),
              "expected weights packed by _convert_weight_to_int4pack, [N, K / 8] of int32, got ",
              packed.scalar_type(), " of shape ", packed.sizes());
  TORCH_CHECK(a.size(1) == packed.size(1) * 8, "x of shape ", a.sizes(), " and weights packed to ",
              packed.sizes(), " cannot be multiplied: ", a.size(1), " != ", packed.size(1) * 8);
  TORCH_CHECK(group > 0 && group % 16 == 0 && a.size(1) % group == 0,
              "expected qGroupSize to be a multiple of 16 that divides ", a.size(1), ", got ", group);
}

Tensor int4_product(const Tensor& a, const Tensor& packed, const Tensor& scale, const Tensor& zero,
                    const std::optional<Tensor>& addend) {
  auto options = matmul_options();
  options.b = {view_of(scale), view_of(zero)};
  if (addend) options.bias = view_of(*addend);
  return product(a, unpacked(packed), options);
}

// a number stands for (number - zero) * scale
Tensor weight_int4pack_mm_with_scales_and_zeros(const Tensor& a, const Tensor& packed, std::int64_t group,
                                                const Tensor& scales, const Tensor& zeros) {
  auto guard = guard_for(a, packed);
  check_one_device(a, packed, scales, zeros);
  check_int4(a, packed, group);
  std::int64_t shape[] = {a.size(1) / group, packed.size(0)};
  TORCH_CHECK(scales.sizes() == shape && zeros.sizes() == shape, "expected scales and zeros of shape ",
              at::IntArrayRef(shape), ", got ", scales.sizes(), " and ", zeros.sizes());
  TORCH_CHECK(at::isFloatingType(scales.scalar_type()), "expected scales of a float type, got ",
              scales.scalar_type());
  TORCH_CHECK(zeros.scalar_type() == at::kChar, "expected zeros of int8, got ", zeros.scalar_type());
  return int4_product(a, packed, scales.to(at::kFloat).contiguous(), zeros.contiguous(), {});
}

// A number stands for (number - 8) * scale + zero, with a float zero that no integer matmul knows. What the
// zeros contribute is a small product of its own: a's sums over the groups times the zeros.
Tensor weight_int4pack_mm(const Tensor& a, const Tensor& packed, std::int64_t group,
                          const Tensor& scales_and_zeros) {
  auto guard = guard_for(a, packed);
  check_one_device(a, packed, scales_and_zeros);
  check_int4(a, packed, group);
  std::int64_t groups = a.size(1) / group, shape[] = {groups, packed.size(0), 2};
  TORCH_CHECK(scales_and_zeros.sizes() == shape, "expected qScaleAndZeros of shape ", at::IntArrayRef(shape),
              ", got ", scales_and_zeros.sizes());
  TORCH_CHECK(at::isFloatingType(scales_and_zeros.scalar_type()),
              "expected qScaleAndZeros of a float type, got ", scales_and_zeros.scalar_type());
  auto parts = scales_and_zeros.to(at::kFloat).permute({2, 0, 1}).contiguous();
  auto eight = at::empty({}, packed.options().dtype(at::kChar)).fill_(8);
  auto sums = a.unflatten(1, {groups, group}).sum(-1, false, at::kFloat);
  return int4_product(a, packed, parts[0], eight, at::matmul(sums, parts[1]));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_weight_int8pack_mm", weight_int8pack_mm);
  m.impl("_convert_weight_to_int4pack", convert_weight_to_int4pack);
  m.impl("_weight_int4pack_mm", weight_int4pack_mm);
  m.impl("_weight_int4pack_mm_with_scales_and_zeros", weight_int4pack_mm_with_scales_and_zeros);
}

}  // namespace torch_xpu

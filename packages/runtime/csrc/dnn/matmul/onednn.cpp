#include <algorithm>
#include <optional>
#include <string_view>

#include "dnn/attributes.h"
#include "dnn/candidates.h"
#include "dnn/descriptor.h"
#include "dnn/engine.h"
#include "dnn/epilogue/epilogue_step.h"
#include "dnn/math_type.h"
#include "dnn/matmul/gemm_step.h"
#include "dnn/matmul/low_bit_weights.h"
#include "dnn/matmul/problem.h"
#include "dnn/reorder_step.h"
#include "dnn/transposed.h"
#include "xpu/device.h"
#include "xpu/dnn/plans.h"

namespace xpu::dnn {
namespace {

bool column_major(const Tensor& t) {
  return t.strides[t.ndim - 2] == 1 && t.shape[t.ndim - 2] != 1 && t.shape[t.ndim - 1] != 1 &&
         t.strides[t.ndim - 1] != 1;
}

// oneDNN's fast code needs a stride of 1 in one of the last two dimensions.
void check_strides(const Tensor& t, const char* name) {
  bool dense = false;
  for (int d = t.ndim - 2; d < t.ndim; ++d) dense |= t.strides[d] == 1 || t.shape[d] == 1;
  reject_unless(dense, "neither of the last two dimensions of ", name, " is dense");
}

bool has_integer_weights(const MatmulProblem& p) {
  return is_float(p.a.dtype) && !is_float(p.b.dtype);
}

dnnl::primitive_attr attributes_of(const MatmulProblem& p) {
  auto attributes = basic_attributes(p.options.deterministic);
  using Mode = dnnl::fpmath_mode;
  auto mode = p.a.dtype == DType::f16 ? Mode::f16 : p.a.dtype == DType::bf16 ? Mode::bf16 : Mode::strict;
  if (has_integer_weights(p))
    attributes.set_fpmath_mode(mode, true);
  else if (p.options.allow_tf32)
    attributes.set_fpmath_mode(Mode::tf32);
  return attributes;
}

void add_operand_quantization(const MatmulProblem& p, dnnl::primitive_attr& attributes,
                              Arguments& arguments) {
  add_quantization(attributes, arguments, DNNL_ARG_SRC, p.a, p.scale_a, p.zero_a);
  add_quantization(attributes, arguments, DNNL_ARG_WEIGHTS, p.b, p.scale_b, p.zero_b);
}

void check_problem(const MatmulProblem& p) {
  auto reason = onednn_matmul_unsupported_reason(p.problem.device());
  reject_unless(reason.empty(), reason);
  reject_unless(p.k() > 0, "nothing to sum over");
  check_strides(p.a, "a");
  check_strides(p.b, "b");
}

// One product by oneDNN. On a CPU its type and layout may differ from the tensors'.
struct Product {
  const MatmulProblem& p;
  Plan& plan;
  PlacedOperand a, b, c;
  std::optional<PlacedOperand> bias;
  int device = p.problem.device();
  DType type = p.a.dtype != p.b.dtype ? p.a.dtype
                                      : math_type(device, p.a.dtype, p.c.numel() * p.k(),
                                                  p.a.numel() + p.b.numel() + p.c.numel());
  bool floats = p.a.dtype == p.b.dtype && is_float(p.a.dtype);
  bool packs = false;      ///< b, whose numbers never change
  bool as_floats = false;  ///< integers are converted

  std::string add(const dnnl::primitive_attr& attributes, Arguments arguments, bool reads_result) {
    auto& engine = engine_of(device);
    auto a_desc = in_math_type(a),
         b_desc = packs || blocked_weights_are_faster() ? any_layout(in_math_type(b)) : in_math_type(b),
         c_desc = in_math_type(c);
    bool plain = !bias && !reads_result && arguments.empty() && attributes.get_post_ops().len() == 0;
    if (plain && gemm_is_faster()) return add_gemm();
    using Desc = dnnl::matmul::primitive_desc;
    auto describe_product = [&](const dnnl::memory::desc& weights) {
      return bias ? Desc(engine, a_desc, weights, in_math_type(*bias), c_desc, attributes)
                  : Desc(engine, a_desc, weights, c_desc, attributes);
    };
    auto desc = describe_product(b_desc);
    prefer_gemm_implementation(desc);
    if (reads_stale_memory(desc)) desc = describe_product(any_layout(in_math_type(b)));
    auto name = fast_implementation(desc);
    auto read = [&](int id, const PlacedOperand& place) {
      arguments.push_back({id, place.desc, place.operand});
    };
    read(DNNL_ARG_SRC, reorder_input(plan, device, a, a_desc));
    read(DNNL_ARG_WEIGHTS, packs ? pack_weights(plan, device, b, desc.weights_desc())
                                 : reorder_input(plan, device, b, desc.weights_desc()));
    if (bias) read(DNNL_ARG_BIAS, reorder_input(plan, device, *bias, in_math_type(*bias)));
    auto target = reads_result ? reorder_input(plan, device, c, c_desc) : stage_output(plan, c, c_desc);
    arguments.push_back({DNNL_ARG_DST, target.desc, target.operand});
    plan.add(std::make_unique<PrimitiveStep>(plan, device, desc, dnnl::matmul(desc), std::move(arguments)));
    reorder_output(plan, device, target, c);
    return name;
  }

 private:
  // With AMX, oneDNN 3 copies row-major integer weights to its scratchpad in blocks of 64 rows, does not
  // clear the rows after the last one, and adds their products. It reorders weights to a layout of its choice
  // rightly.
  bool reads_stale_memory(const dnnl::matmul::primitive_desc& desc) const {
    constexpr std::int64_t block_rows = 64;
    return !floats && p.k() % block_rows != 0 &&
           std::string_view(desc.impl_info_str()).find("amx") != std::string_view::npos &&
           desc.weights_desc().get_strides().back() == 1;
  }

  dnnl::memory::desc in_math_type(const PlacedOperand& place) const {
    return as_floats ? with_type(place.desc, data_type_of(type)) : in_type(place.desc, p.a.dtype, type);
  }
  // On a CPU oneDNN's first choice is not the fastest for large products (measured from 512 to 2048): floats
  // are faster with weights that are first reordered to blocks, integers by the implementation "gemm:jit".
  bool large_on_cpu(std::int64_t min_weights) const {
    return !device_info(device).is_gpu && p.b.ndim == 2 && p.m() >= 512 && p.k() * p.n() >= min_weights;
  }
  bool gemm_is_faster() const {
    if (p.options.deterministic || device_info(device).is_gpu) return false;
    auto gemm = Gemm::of({in_math_type(a), 0}, {in_math_type(b), 0}, {in_math_type(c), 0});
    return gemm && gemm->is_faster();
  }
  std::string add_gemm() {
    auto first = reorder_input(plan, device, a, in_math_type(a)),
         second = reorder_input(plan, device, b, in_math_type(b));
    auto target = stage_output(plan, c, in_math_type(c));
    plan.add(std::make_unique<GemmStep>(*Gemm::of(first, second, target)));
    reorder_output(plan, device, target, c);
    return "gemm";
  }
  bool blocked_weights_are_faster() const { return floats && type == DType::f32 && large_on_cpu(1 << 20); }
  void prefer_gemm_implementation(dnnl::matmul::primitive_desc& desc) const {
    if (packs || is_float(p.a.dtype) || is_float(p.b.dtype) || !large_on_cpu(1 << 18)) return;
    auto other = desc;
    do {
      if (std::string_view(other.impl_info_str()) == "gemm:jit") return void(desc = other);
    } while (other.next_impl());
  }
};

bool is_eight_bit_float(DType t) {
  return t == DType::f8e4m3 || t == DType::f8e5m2;
}

// A scale that does not change along k can be applied to the sum.
bool is_constant_along_k(ExtraOperand scale, int k_from_the_end) {
  return !scale.tensor || scale.tensor->ndim == 0 ||
         scale.tensor->shape[scale.tensor->ndim - k_from_the_end] == 1;
}

// oneDNN 3's code for integer weights under floats has AVX-512 instructions even for CPUs without them.
constexpr const char* no_conversion = "oneDNN does not convert integer weights on this CPU";
bool converts_weights(const MatmulProblem& p) {
  return device_info(p.problem.device()).is_gpu || !emulates_16_bits();
}

// Operands that are first converted to floats.
struct Widened {
  std::optional<LowBitWeights> a, b;
  bool scales_later = false;  ///< the scales of rows and columns are applied to the sums

  explicit Widened(const MatmulProblem& p) {
    if (!is_float(p.a.dtype) || p.a.dtype == DType::f64 || size_of(p.b.dtype) > 1) return;
    bool blocks = !is_constant_along_k(p.scale_a, 1) || !is_constant_along_k(p.scale_b, 2);
    bool of_eight_bits = is_eight_bit_float(p.a.dtype);
    scales_later = of_eight_bits && is_eight_bit_float(p.b.dtype) && !blocks;
    if (scales_later && device_info(p.problem.device()).is_gpu) return;
    // On a CPU oneDNN multiplies many rows by integers at a third of the speed of floats.
    bool is_fast = device_info(p.problem.device()).is_gpu || p.m() < 64;
    if (is_fast && converts_weights(p) && onednn_reads_weights(p) && !is_float(p.b.dtype) && !of_eight_bits)
      return;
    try {
      if (scales_later) {
        reject_unless(p.a.ndim == 2 && !p.zero_a.tensor && !p.zero_b.tensor && !p.offset_b.tensor,
                      "more than scales");
        a.emplace(transposed(p.a), ExtraOperand(), ExtraOperand(), ExtraOperand());
        b.emplace(p.b, ExtraOperand(), ExtraOperand(), ExtraOperand());
        return;
      }
      if (of_eight_bits) a = LowBitWeights::of_a(p);
      b = LowBitWeights::of_b(p);
    } catch (const Rejection&) {
      a.reset();
    }
  }
};

std::int64_t largest(DType of_eight_bits) {
  return of_eight_bits == DType::i8 ? 128 : 255;
}

bool has_integers(const MatmulProblem& p) {
  return !is_float(p.a.dtype) && !is_float(p.b.dtype);
}

// oneDNN's bias differs along the columns only; any other is a post-op.
bool is_column_bias(const Tensor& bias) {
  for (int d = 0; d + 1 < bias.ndim; ++d)
    if (bias.shape[d] != 1) return false;
  return true;
}

}  // namespace

std::string matmul_onednn(const MatmulProblem& p, Plan& plan) {
  check_problem(p);
  bool is_small = p.options.small_a && p.a.dtype == DType::u8 && p.b.dtype == DType::i8;
  reject_unless(!has_integers(p) || is_small || multiplies_integers(p.problem.device()), saturation);
  check_strides(p.c, "c");
  // A column-major c = a @ b is the row-major product of the transposed operands in the other order.
  Widened widened(p);
  bool swap_operands = p.is_plain() && column_major(p.c) && !widened.b;
  PlacedOperand a{describe(swap_operands ? transposed(p.b) : p.a), swap_operands ? 1 : 0},
      b{describe(swap_operands ? transposed(p.a) : p.b), swap_operands ? 0 : 1},
      c{describe(swap_operands ? transposed(p.c) : p.c), 2};
  Arguments arguments;
  std::optional<DType> wide;
  reject_unless(widened.b || !p.offset_b.tensor, "offsets");
  if (widened.b) {
    int device = p.problem.device();
    // Numbers of eight bits times a scale need more digits than bf16 has, unless the result has no more
    // either.
    auto exact = p.c.dtype == DType::f32 && !widened.scales_later ? DType::f32 : DType::bf16;
    wide = math_type(device, widened.a ? exact : p.a.dtype, p.c.numel() * p.k(),
                     p.a.numel() + p.b.numel() + p.c.numel());
    b.desc = describe(widen_weights(plan, device, *widened.b, *wide, b.operand));
    if (widened.a) a.desc = describe(transposed(widen_weights(plan, device, *widened.a, *wide, a.operand)));
  }
  reject_unless(wide || !has_integer_weights(p) || converts_weights(p), no_conversion);
  auto attributes = wide ? basic_attributes(p.options.deterministic) : attributes_of(p);
  if (!wide)
    add_operand_quantization(p, attributes, arguments);
  else if (!widened.a)
    add_quantization(attributes, arguments, DNNL_ARG_SRC, p.a, p.scale_a, p.zero_a);
  add_quantization(attributes, arguments, DNNL_ARG_DST, p.c, p.scale_c, p.zero_c);
  bool scales_sums = widened.b && widened.scales_later;
  bool has_column_bias = p.bias.tensor && is_column_bias(*p.bias.tensor) && !scales_sums;
  std::vector<LeadingOp> first;
  if (scales_sums)
    first = {{dnnl::algorithm::binary_mul, p.scale_a}, {dnnl::algorithm::binary_mul, p.scale_b}};
  if (!has_column_bias) first.push_back({dnnl::algorithm::binary_add, p.bias});
  for (auto& op : first) reject_misread_operand(p.c, op.operand);
  for (std::size_t i = 0; i < p.options.post_ops.size(); ++i)
    reject_misread_operand(p.c, p.post_ops.operand(i));
  add_post_ops(attributes, arguments, p.options.post_ops, p.post_ops, p.c, first);
  std::optional<PlacedOperand> bias;
  if (has_column_bias) bias = {describe(with_leading_ones(*p.bias.tensor, p.c.ndim)), p.bias.operand};
  Product product{p, plan, a, b, c, bias};
  product.packs = p.options.packed_b && !swap_operands && !widened.b;
  if (wide) {
    product.type = *wide;
    product.floats = true;
  }
  return product.add(attributes, std::move(arguments), reads_result(p.options.post_ops));
}

std::string matmul_onednn_and_kernel(const MatmulProblem& p, Plan& plan) {
  check_problem(p);
  int device = p.problem.device(), operand_a = 0, operand_b = 1;
  reject_unless(!has_integer_weights(p) || converts_weights(p), no_conversion);
  bool integers = has_integers(p);
  bool as_floats = integers && !multiplies_integers(device);
  bool one_zero_of_a = as_floats && p.zero_a.tensor && p.zero_a.tensor->numel() == 1;
  bool scales_later = is_constant_along_k(p.scale_a, 1) && is_constant_along_k(p.scale_b, 2) &&
                      (!p.zero_a.tensor || one_zero_of_a) && !p.zero_b.tensor;
  reject_unless(!p.offset_b.tensor, "offsets");
  // f32 represents all integers up to this. A result with scales is rounded anyway.
  constexpr std::int64_t max_exact_sum = 1 << 24;
  auto max_product = largest(p.a.dtype) * largest(p.b.dtype);
  bool exact = is_float(p.c.dtype) || p.scale_a.tensor || p.k() * max_product <= max_exact_sum;
  bool eight_bits = size_of(p.a.dtype) == 1 && size_of(p.b.dtype) == 1;
  reject_unless(!as_floats || (scales_later && exact && eight_bits), saturation);
  // bf16 holds every fp8 number.
  bool small_a = as_floats || is_eight_bit_float(p.a.dtype),
       small_b = as_floats || is_eight_bit_float(p.b.dtype);
  auto wide = as_floats            ? DType::f32
              : small_a && small_b ? math_type(device, DType::bf16, p.c.numel() * p.k(),
                                               p.a.numel() + p.b.numel() + p.c.numel())
                                   : DType::bf16;
  auto a =
      small_a ? convert_operand(plan, device, p.a, operand_a, wide, one_zero_of_a ? p.zero_a : ExtraOperand())
              : p.a;
  bool packs = as_floats && p.options.packed_b;
  auto b = small_b && !packs ? convert_operand(plan, device, p.b, operand_b, wide) : p.b;
  auto sums = row_major(p.c, integers && scales_later && !as_floats ? DType::i32 : DType::f32);
  int scratch = plan.add_scratch(static_cast<std::size_t>(sums.numel()) * size_of(sums.dtype));
  Arguments arguments;
  auto attributes = attributes_of(p);
  if (!scales_later) add_operand_quantization(p, attributes, arguments);
  Product product{p, plan, {describe(a), operand_a}, {describe(b), operand_b}, {describe(sums), scratch}, {}};
  if (as_floats) {
    product.type = wide;
    product.floats = product.as_floats = true;
    product.packs = packs;
  }
  auto name = product.add(attributes, std::move(arguments), false);
  bool integer_epilogue = sums.dtype == DType::i32 && p.options.post_ops.empty() && !p.options.a &&
                          !p.options.b && !p.options.c && !is_float(p.c.dtype);
  auto epilogue = matmul_epilogue(p, integer_epilogue ? "xpu::i32" : "float", scales_later);
  add_epilogue_step(plan, device, {sums, scratch}, {p.c, 2}, epilogue);
  return name;
}

}  // namespace xpu::dnn

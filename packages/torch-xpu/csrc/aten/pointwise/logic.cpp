// Comparisons, logic, and bits.
#include <ATen/ops/bitwise_and_meta.h>
#include <ATen/ops/bitwise_left_shift_meta.h>
#include <ATen/ops/bitwise_not_meta.h>
#include <ATen/ops/bitwise_or_meta.h>
#include <ATen/ops/bitwise_right_shift_meta.h>
#include <ATen/ops/bitwise_xor_meta.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/eq_meta.h>
#include <ATen/ops/ge_meta.h>
#include <ATen/ops/gt_meta.h>
#include <ATen/ops/le_meta.h>
#include <ATen/ops/lt_meta.h>
#include <ATen/ops/ne_meta.h>
#include <ATen/ops/zeros.h>

#include <array>

#include "ops/elementwise/minifloat.h"
#include "ops/elementwise/pointwise_table.h"
#include "xpu/error.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using at::TensorIterator;

// Of truth values, which are computed as bytes, the complement is another.
void bitwise_not(at::TensorIteratorBase& iter, const Tensor& self) {
  static const Pointwise bits("bitwise_not", {.real = {}, .integer = {"T(~a)"}}),
      truth("logical_not", {.real = {"!a"}});
  (self.scalar_type() == at::kBool ? truth : bits)(iter);
}

Tensor& logical_not_out(const Tensor& self, Tensor& out) {
  static const Pointwise kernel("logical_not", {.real = {"!(bool)a"}});
  auto guard = guard_for(self);
  auto iter =
      at::TensorIteratorConfig().check_all_same_dtype(false).add_output(out).add_const_input(self).build();
  kernel(iter);
  return out;
}

Tensor isnan(const Tensor& self) {
  static const Pointwise kernel("isnan", {.real = {"a != a"}});
  auto guard = guard_for(self);
  if (self.scalar_type() == at::kFloat4_e2m1fn_x2)
    return at::zeros(self.sizes(), self.options().dtype(at::kBool));
  auto result = at::empty_like(self, self.options().dtype(at::kBool));
  auto iter =
      at::TensorIteratorConfig().check_all_same_dtype(false).add_output(result).add_const_input(self).build();
  kernel(iter);
  return result;
}

template <const Pointwise& (*kernel)()>
Tensor& logical_out(const Tensor& a, const Tensor& b, Tensor& out) {
  auto guard = guard_for(a, b);
  auto iter = TensorIterator::comparison_op(out, a, b);
  kernel()(iter);
  return out;
}
const Pointwise& logical_and() {
  static const Pointwise kernel("logical_and", {.real = {"(bool)a && (bool)b"}});
  return kernel;
}
const Pointwise& logical_or() {
  static const Pointwise kernel("logical_or", {.real = {"(bool)a || (bool)b"}});
  return kernel;
}
const Pointwise& logical_xor() {
  static const Pointwise kernel("logical_xor", {.real = {"(bool)a != (bool)b"}});
  return kernel;
}

// Compares numbers of the common type: what is wider than it, or an integer, is rounded to it first. T does
// that by itself but where it is float in place of a type of 16 bits.
class Comparison {
 public:
  Comparison(const char* name, const char* relation)
      : has_order_(relation[0] == '<' || relation[0] == '>'),
        same_(name, {.real = {std::string("a ") + relation + " b"}}),
        to_half_(name, rounded(relation, "xpu::half")),
        to_bfloat16_(name, rounded(relation, "xpu::bf16")) {}

  void operator()(at::TensorIteratorBase& iter) const {
    auto type = iter.common_dtype();
    if (type == at::kFloat4_e2m1fn_x2 && !has_order_) return compare_bytes(iter);
    bool is_narrow = type == at::kHalf || type == at::kBFloat16;
    bool is_mixed = false;
    for (int k = iter.noutputs(); k < iter.ntensors(); ++k)
      is_mixed |= iter.tensor_base(k).scalar_type() != type || iter.is_cpu_scalar(k);
    auto& kernel = !is_narrow || !is_mixed ? same_ : type == at::kHalf ? to_half_ : to_bfloat16_;
    kernel(iter);
  }

 private:
  static PointwiseExpression rounded(const char* relation, const char* type) {
    auto number = [&](const char* x) { return xpu::join("(float)xpu::to<", type, ">(", x, ")"); };
    return {.real = {xpu::join(number("a"), " ", relation, " ", number("b"))}};
  }

  // Of pairs of float4, which PyTorch has equal where their bits are.
  void compare_bytes(at::TensorIteratorBase& iter) const {
    at::TensorIteratorConfig config;
    config.check_all_same_dtype(false).resize_outputs(false).set_check_mem_overlap(false);
    std::array<Tensor, 2> bytes;  // the iterator borrows them
    config.add_output(iter.tensor(0));
    for (int k = 0; k < 2; ++k) {
      auto& pairs = iter.tensor(k + 1);
      TORCH_CHECK_NOT_IMPLEMENTED(pairs.scalar_type() == at::kFloat4_e2m1fn_x2,
                                  "comparison of Float4_e2m1fn_x2 with ", pairs.scalar_type());
      bytes[static_cast<std::size_t>(k)] = with_runtime_dtype(pairs);
      config.add_const_input(bytes[static_cast<std::size_t>(k)]);
    }
    auto whole = config.build();
    same_(whole, {}, at::kByte);
  }

  bool has_order_;
  Pointwise same_, to_half_, to_bfloat16_;
};

}  // namespace

#define COMPARE_FORMS(op, overload, relation)                                                      \
  structured<at::meta::structured_##op##_##overload, [](at::TensorIteratorBase& iter, auto&&...) { \
    static const Comparison comparison(#op, relation);                                             \
    comparison(iter);                                                                              \
  }>(m, #op "." #overload, #op "." #overload "_out", #op "_." #overload)
#define COMPARE(op, relation)          \
  COMPARE_FORMS(op, Tensor, relation); \
  COMPARE_FORMS(op, Scalar, relation)

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  COMPARE(eq, "==");
  COMPARE(ne, "!=");
  COMPARE(lt, "<");
  COMPARE(le, "<=");
  COMPARE(gt, ">");
  COMPARE(ge, ">=");
  m.impl("isnan", isnan);

  m.impl("logical_and.out", logical_out<logical_and>);
  m.impl("logical_or.out", logical_out<logical_or>);
  m.impl("logical_xor.out", logical_out<logical_xor>);
  m.impl("logical_not.out", logical_not_out);

  structured<at::meta::structured_bitwise_not, bitwise_not>(m, "bitwise_not", "bitwise_not.out",
                                                            "bitwise_not_");
  POINTWISE_TENSOR_OUT(bitwise_and, {.real = {}, .integer = {"T(a & b)"}});
  POINTWISE_TENSOR_OUT(bitwise_or, {.real = {}, .integer = {"T(a | b)"}});
  POINTWISE_TENSOR_OUT(bitwise_xor, {.real = {}, .integer = {"T(a ^ b)"}});
  POINTWISE_TENSOR_OUT(bitwise_left_shift, {.real = {}, .integer = {"xpu::shift_left(a, b)"}});
  POINTWISE_TENSOR_OUT(bitwise_right_shift, {.real = {}, .integer = {"xpu::shift_right(a, b)"}});
}

}  // namespace torch_xpu

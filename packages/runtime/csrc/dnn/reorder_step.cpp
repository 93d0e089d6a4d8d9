#include "dnn/reorder_step.h"

#include "dnn/descriptor.h"
#include "dnn/engine.h"
#include "dnn/epilogue/epilogue_step.h"
#include "dnn/math_type.h"
#include "dnn/primitive.h"
#include "xpu/device.h"

namespace xpu::dnn {
namespace {

using dnnl::memory;

// Returns true if the descriptor is a tensor of strides; it may have blocks instead.
bool is_plain(const memory::desc& desc) {
  return desc.get_format_kind() == memory::format_kind::blocked && desc.get_inner_nblks() == 0;
}

Tensor tensor_of(const memory::desc& desc, DType dtype) {
  auto shape = desc.get_dims(), strides = desc.get_strides();
  return {nullptr, dtype, desc.get_ndims(), shape.data(), strides.data()};
}

void add_reorder(Plan& plan, int device, const PlacedOperand& from, const PlacedOperand& to);

// Returns f16 or bf16 if one side has it, the other has f32, and oneDNN converts one element at a time: f16
// on every CPU, bf16 on those without AVX-512.
memory::data_type slow_conversion(int device, const PlacedOperand& from, const PlacedOperand& to) {
  using Type = memory::data_type;
  auto first = from.desc.get_data_type(), second = to.desc.get_data_type();
  if (device_info(device).is_gpu || (first == Type::f32) == (second == Type::f32)) return Type::undef;
  auto narrow = first == Type::f32 ? second : first;
  bool is_slow = narrow == Type::f16 || (narrow == Type::bf16 && emulates_16_bits());
  return is_slow ? narrow : Type::undef;
}

// Returns true if a kernel converted the narrow side in its own layout, and oneDNN reorders the rest.
bool add_fast_conversion(Plan& plan, int device, const PlacedOperand& from, const PlacedOperand& to) {
  auto narrow_type = slow_conversion(device, from, to);
  bool widens = from.desc.get_data_type() == narrow_type;
  auto &narrow = widens ? from : to, &other = widens ? to : from;
  if (narrow_type == memory::data_type::undef || !is_plain(narrow.desc)) return false;
  auto wide_desc = with_type(narrow.desc, memory::data_type::f32);
  bool reorders = other.desc != wide_desc;
  PlacedOperand copy{wide_desc, reorders ? plan.add_scratch(wide_desc.get_size()) : other.operand};
  auto dtype = narrow_type == memory::data_type::f16 ? DType::f16 : DType::bf16;
  View stored{tensor_of(narrow.desc, dtype), narrow.operand},
      converted{tensor_of(wide_desc, DType::f32), copy.operand};
  if (!widens && reorders) add_reorder(plan, device, from, copy);
  add_conversion_step(plan, device, widens ? stored : converted, widens ? converted : stored);
  if (widens && reorders) add_reorder(plan, device, copy, to);
  return true;
}

void add_reorder(Plan& plan, int device, const PlacedOperand& from, const PlacedOperand& to) {
  if (add_fast_conversion(plan, device, from, to)) return;
  auto& engine = engine_of(device);
  dnnl::reorder::primitive_desc desc(engine, from.desc, engine, to.desc, basic_attributes());
  plan.add(std::make_unique<PrimitiveStep>(
      plan, device, desc, dnnl::reorder(desc),
      std::vector<PrimitiveStep::Argument>{{DNNL_ARG_FROM, from.desc, from.operand},
                                           {DNNL_ARG_TO, to.desc, to.operand}}));
}

}  // namespace

PlacedOperand reorder_input(Plan& plan, int device, const PlacedOperand& from,
                            const dnnl::memory::desc& wanted) {
  if (from.desc == wanted) return from;
  PlacedOperand copy{wanted, plan.add_scratch(wanted.get_size())};
  add_reorder(plan, device, from, copy);
  return copy;
}

PlacedOperand pack_weights(Plan& plan, int device, const PlacedOperand& from,
                           const dnnl::memory::desc& wanted) {
  if (from.desc == wanted) return from;
  PlacedOperand copy;
  plan.add_packing(wanted, [&] { copy = reorder_input(plan, device, from, wanted); });
  return copy;
}

PlacedOperand stage_output(Plan& plan, const PlacedOperand& to, const dnnl::memory::desc& wanted) {
  if (to.desc == wanted) return to;
  return {wanted, plan.add_scratch(wanted.get_size())};
}

void reorder_output(Plan& plan, int device, const PlacedOperand& written, const PlacedOperand& to) {
  // They are equal if stage_output() returned `to` itself.
  if (written.operand != to.operand) add_reorder(plan, device, written, to);
}

}  // namespace xpu::dnn

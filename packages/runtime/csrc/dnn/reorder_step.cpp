#include "dnn/reorder_step.h"

#include "dnn/descriptor.h"
#include "dnn/engine.h"
#include "dnn/epilogue/epilogue_step.h"
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

memory::desc with_type(const memory::desc& plain, memory::data_type type) {
  return {plain.get_dims(), type, plain.get_strides()};
}

void add_reorder(Plan& plan, int device, const PlacedOperand& from, const PlacedOperand& to);

// On a CPU oneDNN converts f16 one element at a time, and reorders it so. Returns true if a kernel converted
// the f16 side in its own layout, and oneDNN reorders the rest.
bool add_conversion_of_f16(Plan& plan, int device, const PlacedOperand& from, const PlacedOperand& to) {
  auto half = memory::data_type::f16, wide = memory::data_type::f32;
  auto type = [](const PlacedOperand& operand) { return operand.desc.get_data_type(); };
  bool widens = type(from) == half && type(to) == wide, narrows = type(from) == wide && type(to) == half;
  auto& f16 = widens ? from : to;
  if (device_info(device).is_gpu || !(widens || narrows) || !is_plain(f16.desc)) return false;
  auto wide_desc = with_type(f16.desc, wide);
  auto& other = widens ? to : from;
  bool reorders = other.desc != wide_desc;
  PlacedOperand copy{wide_desc, reorders ? plan.add_scratch(wide_desc.get_size()) : other.operand};
  View narrow{tensor_of(f16.desc, DType::f16), f16.operand},
      converted{tensor_of(wide_desc, DType::f32), copy.operand};
  if (narrows && reorders) add_reorder(plan, device, from, copy);
  add_conversion_step(plan, device, widens ? narrow : converted, widens ? converted : narrow);
  if (widens && reorders) add_reorder(plan, device, copy, to);
  return true;
}

void add_reorder(Plan& plan, int device, const PlacedOperand& from, const PlacedOperand& to) {
  if (add_conversion_of_f16(plan, device, from, to)) return;
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

PlacedOperand stage_output(Plan& plan, const PlacedOperand& to, const dnnl::memory::desc& wanted) {
  if (to.desc == wanted) return to;
  return {wanted, plan.add_scratch(wanted.get_size())};
}

void reorder_output(Plan& plan, int device, const PlacedOperand& written, const PlacedOperand& to) {
  // They are equal if stage_output() returned `to` itself.
  if (written.operand != to.operand) add_reorder(plan, device, written, to);
}

}  // namespace xpu::dnn

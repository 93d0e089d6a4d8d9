#include "dnn/reorder_step.h"

#include "dnn/engine.h"
#include "dnn/primitive.h"

namespace xpu::dnn {
namespace {

void add_reorder(Plan& plan, int device, const PlacedOperand& from, const PlacedOperand& to) {
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

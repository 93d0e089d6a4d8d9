#include "dnn/reorder_step.h"

#include "dnn/engine.h"
#include "dnn/primitive.h"

namespace xpu::dnn {
namespace {

void add_reorder(Plan& plan, int device, const Place& from, const Place& to) {
  auto& engine = engine_of(device);
  dnnl::reorder::primitive_desc desc(engine, from.desc, engine, to.desc, basic_attributes());
  plan.add(std::make_unique<PrimitiveStep>(
      plan, device, desc, dnnl::reorder(desc),
      std::vector<PrimitiveStep::Argument>{{DNNL_ARG_FROM, from.desc, from.operand},
                                           {DNNL_ARG_TO, to.desc, to.operand}}));
}

}  // namespace

Place read_as(Plan& plan, int device, const Place& from, const dnnl::memory::desc& wanted) {
  if (from.desc == wanted) return from;
  Place copy{wanted, plan.temporary(wanted.get_size())};
  add_reorder(plan, device, from, copy);
  return copy;
}

Place write_as(Plan& plan, const Place& to, const dnnl::memory::desc& wanted) {
  if (to.desc == wanted) return to;
  return {wanted, plan.temporary(wanted.get_size())};
}

void finish_write(Plan& plan, int device, const Place& written, const Place& to) {
  if (written.operand != to.operand) add_reorder(plan, device, written, to);
}

}  // namespace xpu::dnn

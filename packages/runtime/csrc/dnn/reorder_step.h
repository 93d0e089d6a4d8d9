// Moving an operand into the layout a primitive likes, and back.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "dnn/plan.h"

namespace xpu::dnn {

/// A tensor during a plan: what it looks like and where it is.
struct PlacedOperand {
  dnnl::memory::desc desc;
  int operand;
};

/// `from` itself when it looks like `wanted`, otherwise a copy that the plan makes in temporary memory.
PlacedOperand reorder_input(Plan& plan, int device, const PlacedOperand& from, const dnnl::memory::desc& wanted);
/// Where a primitive may write `wanted`: `to` itself, or temporary memory that reorder_output() copies from.
PlacedOperand stage_output(Plan& plan, const PlacedOperand& to, const dnnl::memory::desc& wanted);
void reorder_output(Plan& plan, int device, const PlacedOperand& written, const PlacedOperand& to);

}  // namespace xpu::dnn

// Reorders an operand to the layout that a primitive prefers, and a result back.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "dnn/plan.h"

namespace xpu::dnn {

/// A tensor in a plan: its descriptor, and the index of its address.
struct PlacedOperand {
  dnnl::memory::desc desc;
  int operand;
};

/// Returns `from` if its descriptor is `wanted`; otherwise adds a reorder to scratch and returns the copy.
PlacedOperand reorder_input(Plan& plan, int device, const PlacedOperand& from,
                            const dnnl::memory::desc& wanted);
/// Like reorder_input(), for the weights of a call with PackedWeights: runs read the copy that exists.
PlacedOperand pack_weights(Plan& plan, int device, const PlacedOperand& from,
                           const dnnl::memory::desc& wanted);
/// Returns the memory in which a primitive may write `wanted`: `to`, or scratch. Call reorder_output() next.
PlacedOperand stage_output(Plan& plan, const PlacedOperand& to, const dnnl::memory::desc& wanted);
void reorder_output(Plan& plan, int device, const PlacedOperand& written, const PlacedOperand& to);

}  // namespace xpu::dnn

// Moving an operand into the layout a primitive likes, and back.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "dnn/plan.h"

namespace xpu::dnn {

/// A tensor during a plan: what it looks like and where it is.
struct Place {
  dnnl::memory::desc desc;
  int operand;
};

/// `from` itself when it looks like `wanted`, otherwise a copy that the plan makes in temporary memory.
Place read_as(Plan& plan, int device, const Place& from, const dnnl::memory::desc& wanted);
/// Where a primitive may write `wanted`: `to` itself, or temporary memory that finish_write() copies from.
Place write_as(Plan& plan, const Place& to, const dnnl::memory::desc& wanted);
void finish_write(Plan& plan, int device, const Place& written, const Place& to);

}  // namespace xpu::dnn

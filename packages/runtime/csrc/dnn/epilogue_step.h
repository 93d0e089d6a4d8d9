// An epilogue as a step of its own, after a library call that computed the bare sums.
#pragma once

#include "dnn/epilogue.h"

namespace xpu::dnn {

/// c = epilogue(from), element by element; the operands say where they are in a run.
void add_epilogue_step(Plan& plan, int device, const Tensor& from, int from_operand, const Tensor& c,
                       int c_operand, const Epilogue& epilogue);

/// A row-major tensor of that shape, of no memory yet.
Tensor row_major(const Tensor& shape, DType dtype);

/// A copy of `from` as `dtype` in temporary memory, with its strides where it is dense; `operand` becomes the
/// copy's.
Tensor converted(Plan& plan, int device, const Tensor& from, int& operand, DType dtype);

}  // namespace xpu::dnn

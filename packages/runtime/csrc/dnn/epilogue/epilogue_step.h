// An epilogue as a step of its own, after a library call that computed the bare sums.
#pragma once

#include "dnn/epilogue/epilogue.h"

namespace xpu::dnn {

/// A tensor in a plan: what it looks like, and where it is in a run.
struct View {
  Tensor tensor;
  int operand;
  std::int64_t byte_offset = 0;
};

/// c = epilogue(from), element by element.
void add_epilogue_step(Plan& plan, int device, const View& from, const View& c, const Epilogue& epilogue);

/// A row-major tensor of that shape, of no memory yet.
Tensor row_major(const Tensor& shape, DType dtype);

/// A copy of `from` as `dtype` in temporary memory, with its strides where it is dense; `operand` becomes the
/// copy's.
Tensor converted(Plan& plan, int device, const Tensor& from, int& operand, DType dtype);

}  // namespace xpu::dnn

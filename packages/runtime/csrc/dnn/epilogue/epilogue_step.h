// An epilogue as a separate step, after a library call that computed the sums.
#pragma once

#include "dnn/epilogue/epilogue.h"

namespace xpu::dnn {

/// A tensor in a plan: its shape and strides, and the index and offset of its address.
struct View {
  Tensor tensor;
  int operand;
  std::int64_t byte_offset = 0;
};

/// Adds a step that computes c = epilogue(from), element by element.
void add_epilogue_step(Plan& plan, int device, const View& from, const View& c, const Epilogue& epilogue);

/// Adds a step that subtracts the zero point, if there is one, and converts the result to the type of `to`, a
/// tensor of the same shape.
void add_conversion_step(Plan& plan, int device, const View& from, const View& to,
                         ExtraOperand zero_point = {});

/// Returns a row-major tensor of that shape, without memory.
Tensor row_major(const Tensor& shape, DType dtype);
/// Returns a tensor of that shape, without memory. It has the same strides if there are no gaps between them,
/// otherwise those of rows.
Tensor dense(const Tensor& shape, DType dtype);

/// Adds such a step to scratch memory in the layout of dense(). Returns the copy, and sets `operand` to its
/// index.
Tensor convert_operand(Plan& plan, int device, const Tensor& from, int& operand, DType dtype,
                       ExtraOperand zero_point = {});

}  // namespace xpu::dnn

// An epilogue as a step of its own, after a library call that computed the bare sums.
#pragma once

#include "dnn/epilogue.h"

namespace xpu::dnn {

/// c = epilogue(sums), where `sums` are dense, in the order of c's shape, and of type `sum_type`.
void add_epilogue_step(Plan& plan, int device, int sums, DType sum_type, const Tensor& c, int c_operand, const Epilogue& epilogue);

}  // namespace xpu::dnn

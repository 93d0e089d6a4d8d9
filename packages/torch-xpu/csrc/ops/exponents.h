// Numbers that are only an exponent, float8_e8m0fnu: the scales of blocks of small floats. The runtime has no
// such dtype; they are copied as bytes, and converted through f32.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_xpu {

inline bool are_exponents(const at::Tensor& t) {
  return t.scalar_type() == at::kFloat8_e8m0fnu;
}

/// The numbers as f32, of the same shape.
at::Tensor from_exponents(const at::Tensor& exponents);

/// Rounds f32 numbers of the same shape to powers of two, ties up; signs are lost.
void to_exponents(const at::Tensor& exponents, const at::Tensor& numbers);

/// The same memory as bytes where the runtime has no dtype for elements of one byte, to move them about.
at::Tensor movable(const at::Tensor& t);

}  // namespace torch_xpu

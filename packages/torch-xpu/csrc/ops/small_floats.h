// Floats of a byte that only PyTorch has: float8_e4m3fnuz, float8_e5m2fnuz, and float8_e8m0fnu, numbers that
// are only an exponent. The runtime has no such dtypes; they are copied as bytes, and converted through f32.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_xpu {

inline bool is_small_float(at::ScalarType type) {
  return type == at::kFloat8_e8m0fnu || type == at::kFloat8_e4m3fnuz || type == at::kFloat8_e5m2fnuz;
}
inline bool is_small_float(const at::Tensor& t) {
  return is_small_float(t.scalar_type());
}

/// The numbers as f32, of the same shape.
at::Tensor widened_small_floats(const at::Tensor& small);

/// Rounds f32 numbers of the same shape to nearest even; to powers of two with ties up, the signs lost.
void narrow_small_floats(const at::Tensor& small, const at::Tensor& numbers);

/// The same memory as bytes where the runtime has no dtype for elements of one byte, to move them about.
at::Tensor movable(const at::Tensor& t);

}  // namespace torch_xpu

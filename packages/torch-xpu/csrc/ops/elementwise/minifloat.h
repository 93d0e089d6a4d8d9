// Minifloats of PyTorch for which the runtime has no dtype: float8_e4m3fnuz, float8_e5m2fnuz and
// float8_e8m0fnu. They are copied as bytes and converted through f32.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_xpu {

inline bool is_minifloat(at::ScalarType type) {
  return type == at::kFloat8_e8m0fnu || type == at::kFloat8_e4m3fnuz || type == at::kFloat8_e5m2fnuz;
}
inline bool is_minifloat(const at::Tensor& t) {
  return is_minifloat(t.scalar_type());
}

/// Returns the numbers as f32, in the same shape.
at::Tensor minifloat_to_f32(const at::Tensor& small);

/// Writes f32 `numbers` to `small`, of the same shape. Rounds to nearest even; for e8m0fnu to powers of two,
/// with ties up and without the signs.
void f32_to_minifloat(const at::Tensor& small, const at::Tensor& numbers);

/// Returns `t`, viewed as bytes if its elements are single bytes for which the runtime has no dtype: for
/// copies.
at::Tensor with_runtime_dtype(const at::Tensor& t);

}  // namespace torch_xpu

// Checks of tensors that all kernels share. They throw UsageError or Unsupported.
#pragma once

#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// The dimension with negative ones counted from the end; a tensor of no dimensions has one of size 1.
inline int wrap_dim(const char* op, int dim, const Tensor& t) {
  int dims = t.ndim ? t.ndim : 1;
  expect<UsageError>(dim >= -dims && dim < dims, op, ": got dimension ", dim, ", expected ", -dims, " to ",
                     dims - 1, " for ", t.describe());
  return dim < 0 ? dim + dims : dim;
}

inline bool same_shape(const Tensor& a, const Tensor& b) {
  if (a.ndim != b.ndim) return false;
  for (int i = 0; i < a.ndim; ++i)
    if (a.shape[i] != b.shape[i]) return false;
  return true;
}

inline void require_same_shape(const char* op, const Tensor& out, const Tensor& in) {
  expect<UsageError>(same_shape(out, in), op, ": the output is ", out.describe(), ", expected the shape of ",
                     in.describe());
}

inline void require_memory(const char* op, const Tensor& t) {
  expect<UsageError>(t.data || t.numel() == 0, op, ": ", t.describe(), " has no memory");
}

/// The dtype of a number's parts.
inline DType part_type(DType dtype) {
  return dtype == DType::c64 ? DType::f32 : dtype == DType::c128 ? DType::f64 : dtype;
}

/// A dtype whose arithmetic the device has.
inline void require_number(const char* op, Stream stream, DType dtype) {
  expect<Unsupported>(!is_complex(dtype) && size_of(dtype), op, ": elements of ", name_of(dtype),
                      " are not ordered numbers of one machine word; convert them first");
  expect<Unsupported>(dtype != DType::f64 || device_info(stream.device()).fp64, op, ": ",
                      device_info(stream.device()).name, " has no f64; convert to f32 first");
}

inline void require_dtype(const char* op, const char* which, const Tensor& t, DType dtype) {
  expect<UsageError>(t.dtype == dtype, op, ": ", which, " is ", t.describe(), ", expected ", name_of(dtype));
}

}  // namespace xpu::kernels

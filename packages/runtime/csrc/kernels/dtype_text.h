// How dtypes are called in the device library.
#pragma once

#include "xpu/tensor.h"

namespace xpu::kernels {

/// The type in memory; a bool is a byte, of which any value but 0 is true.
const char* storage_type(DType dtype);
/// The type of a value once loaded: bool for boolean, otherwise the type in memory.
const char* value_type(DType dtype);
/// The type arithmetic is done in: float for the narrow floats.
const char* math_type(DType dtype);
/// The type in memory of any dtype; of packed ones that of a byte, which holds two elements.
const char* stored_type(DType dtype);
/// Moves bits only: the unsigned integer as wide as the dtype.
DType bits_type(DType dtype);

}  // namespace xpu::kernels

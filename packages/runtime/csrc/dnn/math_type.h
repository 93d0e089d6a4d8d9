// The type in which oneDNN should multiply.
#pragma once

#include "dnn/descriptor.h"
#include "xpu/tensor.h"

namespace xpu::dnn {

/// Returns true on CPUs that multiply f32 at least twice as fast as bf16, and at least as fast as f16.
bool f32_is_fastest(int device);

/// Returns true if the CPU has no instructions for floats of 16 bits, so that oneDNN converts each number.
bool emulates_16_bits();

/// Returns false on CPUs without VNNI: there oneDNN adds two products of eight-bit integers in 16 bits, where
/// they saturate.
bool multiplies_integers(int device);
/// Why such products are rejected.
inline constexpr const char* saturation = "on this CPU oneDNN's sums of eight-bit integers saturate";

/// Returns the type for sums of products of `type`: f32 for floats of 16 bits that the device multiplies more
/// slowly, if converting the `elements` of operands and result costs less than the `products` save; otherwise
/// `type`.
DType math_type(int device, DType type, std::int64_t products, std::int64_t elements);

/// Returns `desc` with the type `to` and no gaps if its type is `from`; returns other descriptors unchanged.
dnnl::memory::desc in_type(const dnnl::memory::desc& desc, DType from, DType to);

}  // namespace xpu::dnn

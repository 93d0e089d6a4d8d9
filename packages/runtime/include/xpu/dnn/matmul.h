#pragma once

#include <optional>
#include <vector>

#include "xpu/abi.h"
#include "xpu/dnn/attributes.h"
#include "xpu/dnn/packed_weights.h"
#include "xpu/stream.h"

namespace xpu::dnn {

struct MatmulOptions {
  std::optional<Tensor> bias = {};  ///< broadcasts against the result
  std::vector<PostOp> post_ops = {};
  Quantization a = {}, b = {}, c = {};
  bool deterministic = false;
  bool allow_tf32 = false;            ///< f32 operands may lose mantissa bits on hardware that gains by it
  PackedWeights* packed_b = nullptr;  ///< of b, if its numbers never change; must outlive the call
  /// Promises that a is u8 and has no number over 127. oneDNN's sums are then exact on CPUs without VNNI,
  /// too.
  bool small_a = false;
};

/// c = post_ops(a @ b + bias). Two or more dimensions, batch dimensions broadcast, any strides.
/// Floats of one kind (c may be wider), u8/i8 into i32 or a float, other integers into their own type, and
/// quantized operands: u8, i8, fp8, and u4, i4 or f4 for b. Offsets are b's.
XPU_API void matmul(Stream stream, const Tensor& a, const Tensor& b, const Tensor& c,
                    const MatmulOptions& options = {});

/// Quantizes each row of a [m, k], floats of up to 32 bits, to the type of b [k, n], i8 or f8e4m3, by a scale
/// of its own: the largest number of the row over 127.5 or 448, in the type of a. Then it multiplies as
/// matmul() does. Returns false and enqueues nothing if no plan does both in as many kernels as the product
/// of floats has. `options` quantize no a.
XPU_API bool matmul_of_quantized_rows(Stream stream, const Tensor& a, const Tensor& b, const Tensor& c,
                                      const MatmulOptions& options = {});

}  // namespace xpu::dnn

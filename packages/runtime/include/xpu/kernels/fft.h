// Fourier transforms along a dimension.
#pragma once

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

struct FftOptions {
  bool inverse = false;  ///< exp(+2 pi i j k / n) instead of exp(-2 pi i j k / n)
  double scale = 1;      ///< factor of the results; the inverse does not divide by n by itself
};

/// Enqueues the transform of `in` along `dim`, of any length and strides. The dtypes select it:
///   complex to complex: one shape; `out` may be the same view as `in`;
///   real to complex, forward: `out` has the first n / 2 + 1 elements of the n that each line of `in` gives;
///   complex to real, inverse: `in` has the first n / 2 + 1 elements, n being the size of `out`. The
///   imaginary parts of the first one and, for even n, of the last one count as 0.
/// c64 goes with f32, c128 with f64. Otherwise the two must not overlap.
XPU_API void fft(Stream stream, const Tensor& out, const Tensor& in, int dim, FftOptions options = {});

}  // namespace xpu::kernels

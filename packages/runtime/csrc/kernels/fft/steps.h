// The kernels around transforms that are made of others; see kernels/fft_steps.sycl.
#pragma once

#include "kernels/fft/lines.h"

namespace xpu::kernels {

enum class FftStep : std::uint8_t {
  chirp_begin,
  chirp_filter,
  chirp_product,
  chirp_end,
  half_end,
  half_begin,
  mirror
};

/// The lines of one side of `transform`, `n` elements each, and lines of `dense` neighboring elements at
/// `memory`: the other side's, or for chirps one after another.
struct FftSide {
  const FftLines& transform;
  bool input;  ///< the strided side is the transform's input
  std::int64_t n, dense;
  std::int64_t whole = 0;  ///< the order of the roots of unity
};
void fft_step(FftStep step, const FftSide& side, const void* strided, const void* memory);

}  // namespace xpu::kernels

// Lengths with large prime factors (Bluestein): j k = (j^2 + k^2 - (k - j)^2) / 2 makes the transform a
// convolution with a chirp, of any length that holds it.
#include <algorithm>
#include <bit>

#include "kernels/fft/steps.h"
#include "kernels/scratch_buffer.h"

namespace xpu::kernels {
namespace {

FftLines dense(const FftLines& like, void* in, void* out, std::int64_t n, std::int64_t lines) {
  FftLines t{like.stream, like.dtype, in, out, n, 1, 1};
  t.add({lines, n, n});
  return t;
}

// The least length with passes of large radices, of at least 64 elements, that holds `n`.
std::int64_t padded_length(std::int64_t n) {
  auto least =
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 64))));
  for (std::int64_t factor : {3, 5}) {
    std::int64_t length = 64 * factor;
    while (length < n) length *= 2;
    least = std::min(least, length);
  }
  return least;
}

}  // namespace

void fft_chirp(const FftLines& t) {
  auto m = padded_length(2 * t.n - 1);
  if (fft_fits_row_chirp(t, m)) return fft_row_chirp(t, m);
  auto lines = t.lines();
  auto bytes = static_cast<std::size_t>(m) * size_of(t.dtype);
  ScratchBuffer values(t.stream, static_cast<std::size_t>(lines) * bytes), filter(t.stream, bytes);
  FftSide in{t, true, t.n, m, 2 * t.n}, out{t, false, t.n, m, 2 * t.n};
  fft_step(FftStep::chirp_begin, in, t.in, values.data());
  fft_step(FftStep::chirp_filter, in, nullptr, filter.data());
  fft_any(dense(t, filter.data(), filter.data(), m, 1));
  auto forward = dense(t, values.data(), values.data(), m, lines), back = forward;
  fft_any(forward);
  fft_step(FftStep::chirp_product, in, filter.data(), values.data());
  back.swap_in = back.swap_out = true;
  back.scale = 1 / static_cast<double>(m);
  fft_any(back);
  fft_step(FftStep::chirp_end, out, t.out, values.data());
}

}  // namespace xpu::kernels

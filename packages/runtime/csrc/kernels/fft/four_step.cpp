// Long lines: a transform of n1 * n2 elements is n2 transforms of every n2-th element, a multiplication by
// roots of unity, and n1 transforms of neighbors.
#include <algorithm>
#include <cmath>

#include "kernels/fft/lines.h"
#include "kernels/scratch_buffer.h"
#include "kernels/tuning.h"

namespace xpu::kernels {
namespace {

// The first of the two factors, or 1: near the square root where the other one then fits too, else the
// largest that fits.
std::int64_t first_factor(std::int64_t n, std::int64_t max_factor) {
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)) + 0.5);
  for (std::int64_t f = std::min(root, max_factor); f > 1 && n / f <= max_factor; --f)
    if (n % f == 0) return f;
  for (std::int64_t f = std::min(max_factor, n - 1); f > 1; --f)
    if (n % f == 0) return f;
  return 1;
}

// Lines that are taken together should be neighbors, of which a GPU's local memory should hold a few.
std::int64_t max_step(const FftLines& t) {
  auto max_length = fft_max_length(t.stream.device(), t.dtype);
  return tuning(t.stream.device()).sub_groups > 1 ? std::max<std::int64_t>(max_length / 4, 64) : max_length;
}

// The CPU device computes whole blocks of lines, so a few long lines waste most of a block.
bool prefers_four_step(const FftLines& t) {
  auto& tune = tuning(t.stream.device());
  return tune.sub_groups == 1 && t.lines() < tune.sub_group / 2 && t.n >= 512;
}

void fft_four_step(const FftLines& t, std::int64_t n1) {
  std::int64_t n2 = t.n / n1;
  ScratchBuffer memory(t.stream, static_cast<std::size_t>(t.lines() * t.n) * size_of(t.dtype));
  FftLines first = t, second = t;
  first.out = memory.data();
  first.n = n1;
  first.in_step = n2 * t.in_step;
  first.out_step = 1;
  first.swap_out = false;
  first.scale = 1;
  first.twiddle = t.n;
  second.in = memory.data();
  second.n = n2;
  second.in_step = n1;
  second.out_step = n1 * t.out_step;
  second.swap_in = false;
  first.dim_count = second.dim_count = 0;
  first.add({n2, t.in_step, n1});
  second.add({n1, 1, t.out_step});
  std::int64_t step = t.n;
  for (int d = 0; d < t.dim_count; ++d) {
    auto& dim = t.dims[static_cast<std::size_t>(d)];
    first.add({dim.size, dim.in, step});
    second.add({dim.size, step, dim.out});
    step *= dim.size;
  }
  fft_lines(first);
  fft_any(second);
}

}  // namespace

void fft_any(const FftLines& t) {
  if (fft_fits_row(t)) return fft_row(t);
  if (!fft_smooth(t.n)) return fft_chirp(t);
  bool fits = fft_fits(t);
  std::int64_t n1 = fits && !prefers_four_step(t) ? 1 : first_factor(t.n, max_step(t));
  if (n1 == 1)
    fft_lines(t);
  else if (!fits && fft_fits_fused(t) && t.n / n1 <= max_step(t))
    fft_four_step_fused(t, n1);
  else
    fft_four_step(t, n1);
}

}  // namespace xpu::kernels

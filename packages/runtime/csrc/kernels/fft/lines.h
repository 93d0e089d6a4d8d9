// Fourier transforms of many lines of complex numbers, of which those of tensors are made.
#pragma once

#include <array>
#include <cstdint>

#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// Strides count complex numbers.
struct FftDim {
  std::int64_t size, in, out;
};

struct FftLines {
  static constexpr int max_dims = 15;
  /// A transform of twice as many real numbers, whose first half and next element are the output or input.
  enum class Half : std::uint8_t { none, out, in };

  Stream stream;
  DType dtype;  ///< c64 or c128
  const void* in;
  void* out;
  std::int64_t n, in_step, out_step;  ///< of a line
  int dim_count = 0;
  std::array<FftDim, max_dims> dims{};  ///< where the lines are
  /// The inverse is the forward transform of numbers with their parts exchanged.
  bool swap_in = false, swap_out = false;
  double scale = 1;
  Half half = Half::none;
  /// Not 0: results are multiplied by this root of unity to the power of element times index in dims[0].
  std::int64_t twiddle = 0;

  void add(FftDim dim) { dims[static_cast<std::size_t>(dim_count++)] = dim; }
  std::int64_t lines() const;
};

/// True if one kernel computes `transform`, with every line in the memory of a work-group.
bool fft_fits(const FftLines& transform);
/// The longest line for which fft_fits() can be true.
std::int64_t fft_max_length(int device, DType dtype);
/// True if all prime factors are small; otherwise fft_fits() is false.
bool fft_smooth(std::int64_t n);
/// The radices of the passes over a smooth line, as kernels have them.
std::uint64_t fft_radices(std::int64_t n);
/// Enqueues the kernel of fft_fits().
void fft_lines(const FftLines& transform);
/// True if one kernel of the CPU device computes `transform` with neighboring elements in the lanes.
bool fft_fits_row(const FftLines& transform);
/// Enqueues the kernel of fft_fits_row().
void fft_row(const FftLines& transform);
/// True if one kernel of the CPU device computes `transform` as a convolution of length `padded`.
bool fft_fits_row_chirp(const FftLines& transform, std::int64_t padded);
/// Enqueues the kernel of fft_fits_row_chirp().
void fft_row_chirp(const FftLines& transform, std::int64_t padded);
/// True if one kernel computes both steps of a transform of n1 * n2 elements, each of which fits by itself.
bool fft_fits_fused(const FftLines& transform);
/// Enqueues the kernel of fft_fits_fused().
void fft_four_step_fused(const FftLines& transform, std::int64_t n1);
/// Enqueues a transform of any length without a half or twiddle.
void fft_any(const FftLines& transform);
/// Enqueues a transform of a length with large prime factors, as a convolution.
void fft_chirp(const FftLines& transform);

/// pi / (4 n) in two parts, as the device library has it.
template <class T>
struct FftRoots {
  T high, low;

  explicit FftRoots(std::int64_t n) {
    constexpr long double pi = 3.14159265358979323846264338327950288L;
    long double unit = n ? pi / (4 * static_cast<long double>(n)) : 0;
    high = static_cast<T>(unit);
    low = static_cast<T>(unit - static_cast<long double>(high));
  }
};

/// True if 8 n needs 64 bits.
inline bool fft_wide(std::int64_t n) {
  return n >= std::int64_t{1} << 29;
}

}  // namespace xpu::kernels

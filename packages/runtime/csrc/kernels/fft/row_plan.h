// How device/xpu/fft_row.h transforms a line, and on which devices.
#pragma once

#include <cstdint>
#include <string>

#include "xpu/tensor.h"

namespace xpu::kernels {

/// The passes over a line. Lengths that differ only in `radices` share a kernel.
struct FftRowPlan {
  std::uint64_t radices = 0;  ///< 6 bits for each pass, the first one lowest; 0: the length has no plan
  bool odd = false;           ///< has the factors 3, 5 or 7

  FftRowPlan(std::int64_t n, DType dtype);
  bool valid() const { return radices; }
  int first() const { return static_cast<int>(radices & 63); }
  /// Lines of source that go before the device header.
  std::string macros(DType dtype) const;
};

/// Lanes of the kernels: one vector register of a CPU with AVX, so that the elements of a pass stay in
/// registers.
int fft_row_lanes(DType dtype);
/// True for the CPU device, whose work-groups are one sub-group.
bool fft_uses_rows(int device);
/// The longest line whose passes are faster than the two steps of a longer one.
std::int64_t fft_max_row(DType dtype);
/// The work-groups that share `lines` lines.
std::size_t fft_row_groups(int device, std::int64_t lines);

}  // namespace xpu::kernels

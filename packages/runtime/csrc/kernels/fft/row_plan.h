// How device/xpu/fft_row.h transforms a line, and on which devices.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/fft/lines.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// The passes over a line. Lengths that differ only in `radices` share a kernel.
struct FftRowPlan {
  std::uint64_t radices = 0;  ///< 6 bits for each pass, the first one lowest; 0: the length has no plan
  int lanes = 0;     ///< the kernel's sub-group: one vector register, so that passes stay in registers
  bool odd = false;  ///< the length has a factor 3, 5 or 7

  FftRowPlan(int device, std::int64_t n, DType dtype);
  bool valid() const { return radices; }
  int first() const { return static_cast<int>(radices & 63); }
  /// Lines of source that go before the device header.
  std::string macros(DType dtype) const;
};

/// True for the CPU device, whose work-groups are one sub-group.
bool fft_uses_rows(int device);
/// The longest line whose passes are faster than the two steps of a longer one.
std::int64_t fft_max_row(DType dtype);
/// The work-groups that share `lines` lines.
std::size_t fft_row_groups(int device, std::int64_t lines);

/// Return `t` in the form that a kernel of rows takes: the last dimension is apart from the others.
template <class Lines>
Lines fft_row_lines(const FftLines& t, const FftRowPlan& plan) {
  Lines l{};
  l.lines = t.lines();
  l.dims = t.dim_count > 1 ? t.dim_count - 1 : 0;
  for (int d = 0; d < l.dims; ++d) {
    auto& dim = t.dims[static_cast<std::size_t>(d)];
    l.size[d] = dim.size;
    l.in[d] = dim.in;
    l.out[d] = dim.out;
  }
  if (t.dim_count) {
    auto& outer = t.dims[static_cast<std::size_t>(l.dims)];
    l.outer_in = outer.in;
    l.outer_out = outer.out;
  }
  l.n = static_cast<std::int32_t>(t.n);
  l.swap_in = t.swap_in;
  l.swap_out = t.swap_out;
  l.radices = plan.radices;
  return l;
}

}  // namespace xpu::kernels

#include "kernels/fft/row_plan.h"

#include <algorithm>
#include <bit>

#include "kernels/tuning.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu::kernels {

// The first radix is a multiple of the lanes, and leaves a number of twos that eights and one four make up.
FftRowPlan::FftRowPlan(std::int64_t n, DType dtype) {
  int twos = std::countr_zero(static_cast<std::uint64_t>(n));
  std::int64_t first = twos % 3 == 1 ? 16 : 8, rest = n;
  if (twos < 3 || n / first < fft_row_lanes(dtype)) return;
  std::uint64_t list = 0;
  int bit = 0;
  auto take = [&](std::int64_t r) {
    list |= static_cast<std::uint64_t>(r) << bit;
    bit += 6;
    rest /= r;
  };
  take(first);
  while (rest % 8 == 0) take(8);
  if (rest % 4 == 0) take(4);
  for (std::int64_t r : {3, 5, 7})
    while (rest % r == 0) {
      take(r);
      odd = true;
    }
  if (rest == 1) radices = list;
}

std::string FftRowPlan::macros(DType dtype) const {
  return join("using T = ", dtype == DType::c64 ? "float" : "double", ";\n#define FIRST ", first(),
              "\n#define ODD ", odd ? 1 : 0, "\n");
}

int fft_row_lanes(DType dtype) {
  return dtype == DType::c64 ? 8 : 4;
}

bool fft_uses_rows(int device) {
  return tuning(device).sub_groups == 1;
}

std::int64_t fft_max_row(DType dtype) {
  return 524288 / static_cast<std::int64_t>(size_of(dtype));
}

std::size_t fft_row_groups(int device, std::int64_t lines) {
  return static_cast<std::size_t>(
      std::min<std::int64_t>(lines, static_cast<std::int64_t>(device_info(device).max_compute_units) * 4));
}

}  // namespace xpu::kernels

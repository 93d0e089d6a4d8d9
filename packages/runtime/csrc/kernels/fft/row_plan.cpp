#include "kernels/fft/row_plan.h"

#include <algorithm>
#include <bit>

#include "compile/build_input.h"
#include "kernels/tuning.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu::kernels {

namespace {

// Passes of n elements after `first`; none if n has other factors than 2, 3, 5 and 7, or a two is left.
std::uint64_t passes_after(int first, std::int64_t n, bool& odd) {
  std::uint64_t list = static_cast<std::uint64_t>(first);
  std::int64_t rest = n / first;
  int bit = 6;
  auto take = [&](std::int64_t r) {
    list |= static_cast<std::uint64_t>(r) << bit;
    bit += 6;
    rest /= r;
  };
  for (int twos = std::countr_zero(static_cast<std::uint64_t>(rest)); twos >= 3 && twos != 4; twos -= 3)
    take(8);
  while (rest % 4 == 0) take(4);
  for (std::int64_t r : {3, 5, 7})
    while (rest % r == 0) {
      take(r);
      odd = true;
    }
  return rest == 1 ? list : 0;
}

}  // namespace

// The first radix is a multiple of the lanes.
FftRowPlan::FftRowPlan(int device, std::int64_t n, DType dtype) {
  int twos = std::countr_zero(static_cast<std::uint64_t>(n));
  int part = static_cast<int>(size_of(dtype)) / 2, avx_lanes = 32 / part;
  auto plan = [&](int sub_group, int first) {
    if (radices || n % first || n / first < sub_group || first % sub_group) return;
    lanes = sub_group;
    odd = false;
    radices = passes_after(first, n, odd);
  };
  // Lines whose buffers are not in the first cache wait for memory, where wider vectors were up to a fifth
  // slower.
  bool is_cached = n * static_cast<std::int64_t>(size_of(dtype)) <= 16384;
  if (is_cached && cpu_vector_bytes(device) == 64) {
    plan(2 * avx_lanes, 16);
    plan(2 * avx_lanes, 8);
  }
  plan(avx_lanes, twos % 3 == 1 ? 16 : 8);
}

std::string FftRowPlan::macros(DType dtype) const {
  return join("using T = ", dtype == DType::c64 ? "float" : "double", ";\n#define FIRST ", first(),
              "\n#define ODD ", odd ? 1 : 0, "\n");
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

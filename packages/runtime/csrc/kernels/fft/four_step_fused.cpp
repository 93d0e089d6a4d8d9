// Both steps of lines of moderate length in one kernel of the CPU device: a core's caches hold a line.
#include <algorithm>

#include "compile/source/embedded.h"
#include "kernels/fft/lines.h"
#include "kernels/kernel_table.h"
#include "kernels/scratch_buffer.h"
#include "kernels/tuning.h"
#include "process/immortal.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu::kernels {
namespace {

// As in kernels/fft_four_step_fused.sycl.
struct Lines {
  std::int64_t lines, in_step, out_step;
  std::int64_t size[FftLines::max_dims], in[FftLines::max_dims], out[FftLines::max_dims];
  std::int32_t dims, n1, n2, swap_in, swap_out, unused;
  std::uint64_t radices1, radices2;
};
template <class T>
struct Numbers {
  T scale;
  FftRoots<T> own1, own2, whole;
};

Kernel kernel_of(int device, DType dtype, bool near_in, bool near_out) {
  static auto& table = immortal<KernelTable>();
  KernelKey key{static_cast<std::uint64_t>(device), static_cast<std::uint64_t>(dtype) |
                                                        static_cast<std::uint64_t>(near_in) << 8 |
                                                        static_cast<std::uint64_t>(near_out) << 9};
  return table.find_or_make(key, [&] {
    int group = tuning(device).sub_group;
    return build_shared_kernel(
        device,
        join("using T = ", dtype == DType::c64 ? "float" : "double", ";\n#define LINES ", group,
             "\n#define GROUP ", group, "\n#define LOCAL 0\n#define IN_STEP ", near_in ? "1" : "s.in_step",
             "\n#define OUT_STEP ", near_out ? "1" : "s.out_step", "\n",
             kernel_source("fft_four_step_fused.sycl")),
        "fft_four_step_fused");
  });
}

template <class T>
void launch_fused(const FftLines& t, std::int64_t n1) {
  std::int64_t n2 = t.n / n1;
  Lines l{};
  l.lines = t.lines();
  l.in_step = t.in_step;
  l.out_step = t.out_step;
  for (int d = 0; d < t.dim_count; ++d) {
    auto& dim = t.dims[static_cast<std::size_t>(d)];
    l.size[l.dims] = dim.size;
    l.in[l.dims] = dim.in;
    l.out[l.dims++] = dim.out;
  }
  l.n1 = static_cast<std::int32_t>(n1);
  l.n2 = static_cast<std::int32_t>(n2);
  l.swap_in = t.swap_in;
  l.swap_out = t.swap_out;
  l.radices1 = fft_radices(n1);
  l.radices2 = fft_radices(n2);
  Numbers<T> numbers{static_cast<T>(t.scale), FftRoots<T>(n1), FftRoots<T>(n2), FftRoots<T>(t.n)};
  int device = t.stream.device();
  auto group = static_cast<std::size_t>(tuning(device).sub_group);
  auto groups = std::min(static_cast<std::size_t>(l.lines),
                         static_cast<std::size_t>(device_info(device).max_compute_units) * 4);
  auto own = static_cast<std::size_t>(2 * t.n + 2 * n1 + 2 * n2) +
             4 * group * static_cast<std::size_t>(std::max(n1, n2));
  ScratchBuffer memory(t.stream, groups * own * sizeof(T));
  launch(t.stream, kernel_of(device, t.dtype, t.in_step == 1, t.out_step == 1),
         NdRange::linear(groups, group), args(t.in, t.out, memory.data(), l, numbers),
         2 * static_cast<std::size_t>(l.lines * t.n) * size_of(t.dtype));
}

}  // namespace

bool fft_fits_fused(const FftLines& t) {
  int device = t.stream.device();
  // The line, its middle state and the result are meant to fit a core's second cache; each core should have a
  // line.
  return tuning(device).sub_groups == 1 && t.n <= 524288 / static_cast<std::int64_t>(size_of(t.dtype)) &&
         t.lines() >= device_info(device).max_compute_units;
}

void fft_four_step_fused(const FftLines& t, std::int64_t n1) {
  t.dtype == DType::c64 ? launch_fused<float>(t, n1) : launch_fused<double>(t, n1);
}

}  // namespace xpu::kernels

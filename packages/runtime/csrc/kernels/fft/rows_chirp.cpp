// Lines with large prime factors on the CPU device: kernels/fft_rows_chirp.sycl takes each through its
// convolution.
#include <cstdint>

#include "compile/source/embedded.h"
#include "kernels/fft/lines.h"
#include "kernels/fft/row_plan.h"
#include "kernels/kernel_table.h"
#include "kernels/scratch_buffer.h"
#include "process/immortal.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu::kernels {
namespace {

// As in kernels/fft_rows_chirp.sycl.
struct Lines {
  std::int64_t lines, space, in_step, out_step;
  std::int64_t outer_in, outer_out;
  std::int64_t size[FftLines::max_dims - 1], in[FftLines::max_dims - 1], out[FftLines::max_dims - 1];
  std::int32_t dims, n, padded, swap_in, swap_out, unused;
  std::uint64_t radices;
};
template <class T>
struct Numbers {
  T scale, padded_scale;
  FftRoots<T> own, whole;
};

Kernel kernel_of(int device, DType dtype, const FftRowPlan& plan) {
  static auto& table = immortal<KernelTable>();
  auto key = KeyBits()
                 .add(32, static_cast<std::uint64_t>(device))
                 .add(8, static_cast<std::uint64_t>(dtype))
                 .add(8, static_cast<std::uint64_t>(plan.first()))
                 .add(8, static_cast<std::uint64_t>(plan.lanes))
                 .add(1, plan.odd)
                 .key();
  return table.find_or_make(key, [&] {
    return build_shared_kernel(device, join(plan.macros(dtype), kernel_source("fft_rows_chirp.sycl")),
                               "fft_rows_chirp", {}, plan.lanes);
  });
}

template <class T>
void launch_chirp(const FftLines& t, std::int64_t padded) {
  int device = t.stream.device();
  FftRowPlan plan(device, padded, t.dtype);
  auto lanes = plan.lanes;
  auto l = fft_row_lines<Lines>(t, plan);
  l.space = 8 * padded + 2 * (t.n + lanes);
  l.in_step = t.in_step;
  l.out_step = t.out_step;
  l.padded = static_cast<std::int32_t>(padded);
  Numbers<T> numbers{static_cast<T>(t.scale), static_cast<T>(1 / static_cast<double>(padded)),
                     FftRoots<T>(padded), FftRoots<T>(2 * t.n)};
  auto groups = fft_row_groups(device, l.lines);
  ScratchBuffer memory(t.stream, groups * static_cast<std::size_t>(l.space) * sizeof(T));
  launch(t.stream, kernel_of(device, t.dtype, plan), NdRange::linear(groups, static_cast<std::size_t>(lanes)),
         args(t.in, t.out, memory.data(), l, numbers),
         2 * static_cast<std::size_t>(l.lines * t.n) * size_of(t.dtype));
}

}  // namespace

bool fft_fits_row_chirp(const FftLines& t, std::int64_t padded) {
  return fft_uses_rows(t.stream.device()) && padded <= fft_max_row(t.dtype) &&
         FftRowPlan(t.stream.device(), padded, t.dtype).valid();
}

void fft_row_chirp(const FftLines& t, std::int64_t padded) {
  t.dtype == DType::c64 ? launch_chirp<float>(t, padded) : launch_chirp<double>(t, padded);
}

}  // namespace xpu::kernels

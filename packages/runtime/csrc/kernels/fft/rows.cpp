// Lines of neighboring elements on the CPU device: kernels/fft_rows.sycl takes one line at a time, with
// neighboring elements in the lanes, so that lines stay in a core's caches.
#include <cstdint>

#include "compile/source/embedded.h"
#include "kernels/fft/lines.h"
#include "kernels/fft/row_plan.h"
#include "kernels/kernel_table.h"
#include "kernels/scratch_buffer.h"
#include "process/immortal.h"
#include "xpu/device.h"

namespace xpu::kernels {
namespace {

// As in kernels/fft_rows.sycl.
struct Lines {
  std::int64_t lines, space;
  std::int64_t outer_in, outer_out;
  std::int64_t size[FftLines::max_dims - 1], in[FftLines::max_dims - 1], out[FftLines::max_dims - 1];
  std::int32_t dims, n, swap_in, swap_out;
  std::uint64_t radices;
};
template <class T>
struct Numbers {
  T scale;
  FftRoots<T> own, whole;
};

Kernel kernel_of(int device, DType dtype, const FftRowPlan& plan, FftLines::Half half) {
  static auto& table = immortal<KernelTable>();
  int with = half == FftLines::Half::out ? 2 : half == FftLines::Half::in ? 3 : 0;
  auto key = KeyBits()
                 .add(32, static_cast<std::uint64_t>(device))
                 .add(8, static_cast<std::uint64_t>(dtype))
                 .add(8, static_cast<std::uint64_t>(plan.first()))
                 .add(8, static_cast<std::uint64_t>(plan.lanes))
                 .add(1, plan.odd)
                 .add(2, static_cast<std::uint64_t>(with))
                 .key();
  return table.find_or_make(key, [&] {
    return build_shared_kernel(
        device, join(plan.macros(dtype), "#define WITH ", with, "\n", kernel_source("fft_rows.sycl")),
        "fft_rows", {}, plan.lanes);
  });
}

template <class T>
void launch_rows(const FftLines& t, const FftRowPlan& plan) {
  int device = t.stream.device();
  auto l = fft_row_lines<Lines>(t, plan);
  l.space = 8 * t.n;
  Numbers<T> numbers{static_cast<T>(t.scale), FftRoots<T>(t.n), FftRoots<T>(2 * t.n)};
  auto groups = fft_row_groups(device, l.lines);
  ScratchBuffer memory(t.stream, groups * static_cast<std::size_t>(l.space) * sizeof(T));
  launch(t.stream, kernel_of(device, t.dtype, plan, t.half),
         NdRange::linear(groups, static_cast<std::size_t>(plan.lanes)),
         args(t.in, t.out, memory.data(), l, numbers),
         2 * static_cast<std::size_t>(l.lines * t.n) * size_of(t.dtype));
}

}  // namespace

bool fft_fits_row(const FftLines& t) {
  return fft_uses_rows(t.stream.device()) && t.in_step == 1 && t.out_step == 1 && !t.twiddle &&
         t.n <= fft_max_row(t.dtype) && FftRowPlan(t.stream.device(), t.n, t.dtype).valid();
}

void fft_row(const FftLines& t) {
  FftRowPlan plan(t.stream.device(), t.n, t.dtype);
  t.dtype == DType::c64 ? launch_rows<float>(t, plan) : launch_rows<double>(t, plan);
}

}  // namespace xpu::kernels

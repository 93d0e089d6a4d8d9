#include "kernels/fft/steps.h"

#include <algorithm>

#include "compile/source/embedded.h"
#include "kernels/dtype_text.h"
#include "kernels/kernel_table.h"
#include "kernels/tuning.h"
#include "process/immortal.h"
#include "xpu/error.h"

namespace xpu::kernels {
namespace {

constexpr const char* names[] = {"chirp_begin", "chirp_filter", "chirp_product", "chirp_end",
                                 "half_end",    "half_begin",   "mirror"};
constexpr std::int64_t piece_elements = 4096;

// As in kernels/fft_steps.sycl.
template <class Count>
struct Lines {
  std::int64_t tasks, pieces, piece, n, dense, step;
  std::int64_t size[FftLines::max_dims - 1], stride[FftLines::max_dims - 1],
      dense_stride[FftLines::max_dims - 1];
  Count whole;
  std::int32_t dims, swap;
};
template <class T>
struct Numbers {
  T scale;
  FftRoots<T> whole;
};

// Chirps have their dense lines in order; those of halves are the other side of the transform.
bool chirps(FftStep step) {
  return step <= FftStep::chirp_end;
}

Kernel kernel_of(int device, FftStep step, DType dtype, bool wide) {
  static auto& table = immortal<KernelTable>();
  KernelKey key{static_cast<std::uint64_t>(device), static_cast<std::uint64_t>(step) |
                                                        static_cast<std::uint64_t>(dtype) << 8 |
                                                        static_cast<std::uint64_t>(wide) << 16};
  return table.find_or_make(key, [&] {
    return build_shared_kernel(
        device,
        join("using T = ", dtype == DType::c64 ? "float" : "double", ";\n#define COUNT ",
             wide ? "xpu::u64" : "xpu::u32", "\n", kernel_source("fft_steps.sycl")),
        names[static_cast<int>(step)]);
  });
}

template <class T, class Count>
void launch_step(FftStep step, const FftSide& side, const void* strided, const void* memory) {
  auto& t = side.transform;
  Lines<Count> l{};
  l.piece = piece_elements;
  l.n = side.n;
  l.dense = side.dense;
  l.pieces = (std::max(side.n, side.dense) + l.piece - 1) / l.piece;
  l.tasks = l.pieces;
  l.step = side.input ? t.in_step : t.out_step;
  l.whole = static_cast<Count>(side.whole);
  l.swap = side.input ? t.swap_in : t.swap_out;
  // The filter is one for all lines.
  l.dims = step == FftStep::chirp_filter ? 0 : t.dim_count;
  std::int64_t line = 1;
  for (int d = 0; d < l.dims; ++d) {
    auto& dim = t.dims[static_cast<std::size_t>(d)];
    l.size[d] = dim.size;
    l.stride[d] = side.input ? dim.in : dim.out;
    l.dense_stride[d] = chirps(step) ? line * side.dense : side.input ? dim.out : dim.in;
    l.tasks *= dim.size;
    line *= dim.size;
  }
  Numbers<T> numbers{static_cast<T>(t.scale), FftRoots<T>(side.whole)};
  int device = t.stream.device();
  launch(t.stream, kernel_of(device, step, t.dtype, sizeof(Count) == 8), tile_range(tuning(device), l.tasks),
         args(strided, memory, l, numbers),
         2 * static_cast<std::size_t>(t.lines() * side.dense) * size_of(t.dtype));
}

}  // namespace

void fft_step(FftStep step, const FftSide& side, const void* strided, const void* memory) {
  bool wide = fft_wide(side.whole);
  if (side.transform.dtype == DType::c64)
    wide ? launch_step<float, std::uint64_t>(step, side, strided, memory)
         : launch_step<float, std::uint32_t>(step, side, strided, memory);
  else
    wide ? launch_step<double, std::uint64_t>(step, side, strided, memory)
         : launch_step<double, std::uint32_t>(step, side, strided, memory);
}

}  // namespace xpu::kernels

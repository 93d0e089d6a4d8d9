#include "kernels/fft/lines.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "compile/source/embedded.h"
#include "kernels/dtype_text.h"
#include "kernels/kernel_table.h"
#include "kernels/scratch_buffer.h"
#include "kernels/tuning.h"
#include "process/immortal.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu::kernels {
namespace {

constexpr int max_outer = FftLines::max_dims - 1;
constexpr std::int64_t largest_factor = 61;

// As in kernels/fft.sycl.
template <class Count>
struct Lines {
  std::int64_t blocks, lines, in_line, out_line, in_step, out_step;
  std::int64_t size[max_outer], in[max_outer], out[max_outer];
  Count whole;
  std::int32_t dims, n, swap_in, swap_out;
  std::uint64_t radices;
};
template <class T>
struct Numbers {
  T scale;
  FftRoots<T> own, whole;
};

std::size_t real_size(DType dtype) {
  return size_of(dtype) / 2;
}

// Elements that a work-group's local memory holds twice, beside as many roots.
std::int64_t local_points(int device, DType dtype) {
  std::int64_t points = 16384 / static_cast<std::int64_t>(size_of(dtype));
  while (points > 64 &&
         static_cast<std::size_t>(6 * points) * real_size(dtype) > device_info(device).local_memory)
    points /= 2;
  return points;
}

// How the kernel is cut: the variant that is built.
struct Shape {
  bool local, in_rows, out_rows, wide;
  int lines, group, with;
  std::int64_t points;
};

// The kernel that multiplies by roots has a meaning for the first dimension. Otherwise that of the lines of a
// block is the one which leaves fewest of them out, and of these the one with the nearest lines.
int block_dim(const FftLines& t, int lines) {
  int best = 0;
  if (t.twiddle) return best;
  auto waste = [&](int d) {
    auto size = t.dims[static_cast<std::size_t>(d)].size;
    return static_cast<double>((size + lines - 1) / lines * lines) / static_cast<double>(size);
  };
  auto distance = [&](int d) {
    auto& dim = t.dims[static_cast<std::size_t>(d)];
    return std::min(std::abs(dim.in), std::abs(dim.out));
  };
  for (int d = 1; d < t.dim_count; ++d) {
    bool alike = std::max(waste(d), waste(best)) < 1.25 || waste(d) == waste(best);
    if (alike ? distance(d) < distance(best) : waste(d) < waste(best)) best = d;
  }
  return best;
}

Shape shape_of(const FftLines& t) {
  int device = t.stream.device();
  auto& tune = tuning(device);
  Shape s{};
  s.local = tune.sub_groups > 1;
  s.wide = fft_wide(t.twiddle);
  s.with = t.twiddle ? 1 : t.half == FftLines::Half::out ? 2 : t.half == FftLines::Half::in ? 3 : 0;
  s.group = tune.sub_groups * tune.sub_group;
  s.lines = tune.sub_group;
  if (!s.local) return s;
  s.points = local_points(device, t.dtype);
  s.lines = 16;
  while (s.lines > 1 && (s.lines * t.n > s.points || s.lines / 4 >= t.lines())) s.lines /= 4;
  return s;
}

Kernel kernel_of(int device, DType dtype, const Shape& s) {
  static auto& table = immortal<KernelTable>();
  KernelKey key{static_cast<std::uint64_t>(device) | static_cast<std::uint64_t>(dtype) << 32,
                static_cast<std::uint64_t>(s.lines) | static_cast<std::uint64_t>(s.with) << 16 |
                    static_cast<std::uint64_t>(s.in_rows) << 24 |
                    static_cast<std::uint64_t>(s.out_rows) << 25 | static_cast<std::uint64_t>(s.wide) << 26};
  return table.find_or_make(key, [&] {
    return build_shared_kernel(
        device,
        join("using T = ", dtype == DType::c64 ? "float" : "double", ";\n#define LINES ", s.lines,
             "\n#define GROUP ", s.group, "\n#define LOCAL ", s.local, "\n#define POINTS ", s.points,
             "\n#define COUNT ", s.wide ? "xpu::u64" : "xpu::u32", "\n#define IN_ROWS ", s.in_rows,
             "\n#define OUT_ROWS ", s.out_rows, "\n#define WITH ", s.with, "\n", kernel_source("fft.sycl")),
        "fft_lines");
  });
}

template <class T, class Count>
void launch_lines(const FftLines& t, Shape s) {
  int block = block_dim(t, s.lines);
  FftDim lane = t.dim_count ? t.dims[static_cast<std::size_t>(block)] : FftDim{1, 0, 0};
  // The CPU device gathers from the rows' cache lines more cheaply than it scatters into the buffer.
  s.in_rows = s.local && (std::abs(t.in_step) < std::abs(lane.in) || lane.size == 1);
  s.out_rows = std::abs(t.out_step) < std::abs(lane.out) || lane.size == 1;
  Lines<Count> l{};
  l.lines = lane.size;
  l.in_line = lane.in;
  l.out_line = lane.out;
  l.in_step = t.in_step;
  l.out_step = t.out_step;
  l.blocks = (lane.size + s.lines - 1) / s.lines;
  for (int d = 0; d < t.dim_count; ++d) {
    if (d == block) continue;
    auto& dim = t.dims[static_cast<std::size_t>(d)];
    l.size[l.dims] = dim.size;
    l.in[l.dims] = dim.in;
    l.out[l.dims++] = dim.out;
    l.blocks *= dim.size;
  }
  std::int64_t whole = t.twiddle ? t.twiddle : t.half != FftLines::Half::none ? 2 * t.n : 0;
  l.whole = static_cast<Count>(whole);
  l.n = static_cast<std::int32_t>(t.n);
  l.radices = fft_radices(t.n);
  l.swap_in = t.swap_in;
  l.swap_out = t.swap_out;
  Numbers<T> numbers{static_cast<T>(t.scale), FftRoots<T>(t.n), FftRoots<T>(whole)};
  int device = t.stream.device();
  auto max_groups =
      s.local ? tuning(device).tiles : static_cast<int>(device_info(device).max_compute_units) * 4;
  auto groups = static_cast<std::size_t>(std::min<std::int64_t>(l.blocks, max_groups));
  ScratchBuffer memory;
  if (!s.local)
    memory = ScratchBuffer(t.stream,
                           groups * static_cast<std::size_t>((4 * s.lines + 2) * t.n) * real_size(t.dtype));
  launch(t.stream, kernel_of(device, t.dtype, s), NdRange::linear(groups, static_cast<std::size_t>(s.group)),
         args(t.in, t.out, memory.data(), l, numbers),
         2 * static_cast<std::size_t>(t.lines() * t.n) * size_of(t.dtype));
}

}  // namespace

std::int64_t FftLines::lines() const {
  std::int64_t product = 1;
  for (int d = 0; d < dim_count; ++d) product *= dims[static_cast<std::size_t>(d)].size;
  return product;
}

// Eights and fours, which leave a two only where there is no other; no line that fits has more than ten
// passes.
std::uint64_t fft_radices(std::int64_t n) {
  std::uint64_t list = 0;
  int bit = 0;
  auto take = [&](std::int64_t r) {
    list |= static_cast<std::uint64_t>(r) << bit;
    bit += 6;
    n /= r;
  };
  for (int twos = std::countr_zero(static_cast<std::uint64_t>(n)); twos >= 3 && twos != 4; twos -= 3) take(8);
  for (std::int64_t r : {4, 2, 3, 5, 7})
    while (n % r == 0) take(r);
  for (std::int64_t r = 11; n > 1; r += 2)
    while (n % r == 0) take(r);
  return list;
}

bool fft_smooth(std::int64_t n) {
  for (std::int64_t r = 2; r <= largest_factor; ++r)
    while (n % r == 0) n /= r;
  return n == 1;
}

std::int64_t fft_max_length(int device, DType dtype) {
  // The CPU device's buffers are meant to stay in a core's cache.
  return tuning(device).sub_groups > 1 ? local_points(device, dtype)
                                       : 32768 / static_cast<std::int64_t>(size_of(dtype));
}

bool fft_fits(const FftLines& t) {
  return t.n <= fft_max_length(t.stream.device(), t.dtype) && fft_smooth(t.n);
}

void fft_lines(const FftLines& t) {
  auto shape = shape_of(t);
  if (t.dtype == DType::c64)
    shape.wide ? launch_lines<float, std::uint64_t>(t, shape) : launch_lines<float, std::uint32_t>(t, shape);
  else
    shape.wide ? launch_lines<double, std::uint64_t>(t, shape)
               : launch_lines<double, std::uint32_t>(t, shape);
}

}  // namespace xpu::kernels

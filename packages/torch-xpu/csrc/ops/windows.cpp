#include "ops/windows.h"

#include <ATen/ops/div.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/errors.h"
#include "ops/kernels.h"
#include "ops/tensor.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace torch_xpu {
namespace {

using at::Tensor;

enum Mode { sum, max, chosen };

// As in kernels/windows.sycl.
struct WindowsShape {
  std::int64_t n, c, size[3], from[3];
  std::int64_t x[5], y[5], where[5], widths[3];
  std::int64_t count, rows, columns, tile_rows, tile_columns, column_tiles;
};

// A tensor's sizes and strides as n c d h w.
struct Planes {
  std::int64_t size[5], stride[5];

  Planes(const Tensor& t, int spatial) {
    std::fill(size, size + 5, 1);
    std::fill(stride, stride + 5, 0);
    for (int k = 0; k < spatial; ++k) set(4 - k, t, t.dim() - 1 - k);
    for (int k = 0; k < 2; ++k) set(1 - k, t, t.dim() - 1 - spatial - k);
  }

 private:
  void set(int k, const Tensor& t, std::int64_t d) {
    if (d < 0) return;
    size[k] = t.size(d);
    stride[k] = t.stride(d);
  }
};

struct Call {
  Mode mode;
  Tensor x, y, where;
  std::array<Stencil, 3> stencils;
  int spatial;
};

Stencil identity_stencil(std::int64_t size, bool wide) {
  return {.kind = Stencil::identity, .from = size, .to = size, .wide = wide};
}

void enqueue(const Call& call) {
  auto device = call.y.device();
  auto& info = xpu::device_info(device.index());
  Planes x(call.x, call.spatial), y(call.y, call.spatial);
  WindowsShape s{};
  std::array<StencilTable, 3> tables;
  bool weighted = false, holes = false;
  for (int d = 0; d < 3; ++d) {
    auto k = static_cast<std::size_t>(d);
    tables[k] = stencil_table(call.stencils[k], device);
    weighted = weighted || call.stencils[k].has_weights();
    holes = holes || tables[k].holes;
    s.widths[d] = tables[k].width;
    s.size[d] = y.size[2 + d];
    s.from[d] = x.size[2 + d];
  }
  s.n = y.size[0];
  s.c = y.size[1];
  s.count = call.y.numel();
  std::copy(x.stride, x.stride + 5, s.x);
  std::copy(y.stride, y.stride + 5, s.y);
  if (call.mode != sum) std::copy_n(Planes(call.where, call.spatial).stride, 5, s.where);

  int lanes = static_cast<int>(info.sub_group_size);
  bool channels_last = y.stride[1] == 1 && y.size[1] > 1 && y.size[2] * y.size[3] * y.size[4] > 1;
  // Short rows would leave lanes idle: rows of one plane are treated as one if memory allows, otherwise each
  // lane computes single elements.
  auto is_short = [&](std::int64_t columns) { return columns < 2 * lanes && columns % lanes; };
  auto dense = [](const std::int64_t* size, const std::int64_t* stride) {
    return stride[4] == 1 && stride[3] == size[2];
  };
  constexpr std::int64_t max_plane_size = 4096, max_plane_width = 64;
  if (!channels_last && is_short(s.size[2]) && s.size[1] > 1 && s.size[1] * s.size[2] <= max_plane_size &&
      s.widths[1] * s.widths[2] <= max_plane_width && dense(s.from, s.x) && dense(s.size, s.y) &&
      (call.mode == sum || dense(call.mode == max ? s.size : s.from, s.where))) {
    tables[2] = stencil_table(call.stencils[1], call.stencils[2], device);
    tables[1] = stencil_table(identity_stencil(1, call.stencils[1].wide), device);
    holes = tables[0].holes || tables[2].holes;
    s.widths[1] = 1;
    s.widths[2] = tables[2].width;
    for (auto* size : {s.size, s.from}) {
      size[2] *= size[1];
      size[1] = 1;
    }
  }
  s.columns = channels_last ? s.c : s.size[2];
  s.rows = s.count / s.columns;
  int layout = (channels_last ? 1 : 0) + (is_short(s.columns) ? 2 : 0);
  auto limit = std::numeric_limits<std::int32_t>::max();
  bool narrow = s.count < limit && s.from[0] * s.from[1] * s.from[2] < limit &&
                s.size[0] * s.size[1] * s.size[2] < limit &&
                s.columns * std::max(s.x[layout % 2 ? 1 : 4], std::int64_t{1}) < limit &&
                s.from[2] * std::max(s.x[4], std::int64_t{1}) < limit;
  int sub_groups =
      info.is_gpu ? static_cast<int>(std::min<std::size_t>(info.max_work_group_size, 256)) / lanes : 1;

  auto xt = dtype_of(call.x.scalar_type()), yt = dtype_of(call.y.scalar_type());
  auto t = math_type(xt);
  auto step = [&](const char* name, std::int64_t stride, const char* value) {
    return xpu::join("#define ", name, " ", stride == 1 ? "1" : value, "\n");
  };
  auto fixed = [&](const char* name, std::int64_t n, int d) {
    return n <= 4 ? xpu::join("#define ", name, " ", n, "\n")
                  : xpu::join("#define ", name, " s.widths[", d, "]\n");
  };
  int fast = layout % 2 ? 1 : 4;
  auto head =
      xpu::join("#include <xpu/limits.h>\n#include <xpu/group.h>\n",
                xpu::is_complex(xt) ? "#include <xpu/complex.h>\n" : "", "using X = ", stored_type(xt),
                ";\nusing Y = ", stored_type(yt), ";\nusing T = ", t,
                ";\nusing W = ", call.stencils[0].wide ? "double" : "float",
                ";\nusing Place = xpu::", narrow ? "i32" : "i64",
                ";\nusing UnsignedPlace = xpu::", narrow ? "u32" : "u64", ";\n#define MODE ",
                static_cast<int>(call.mode), "\n#define WEIGHTS ", weighted, "\n#define HOLES ", holes,
                "\n#define LAYOUT ", layout, "\n#define SUB_GROUPS ", sub_groups, "\n",
                step("STEP_X", s.x[fast], layout % 2 ? "s.x[1]" : "s.x[4]"),
                step("STEP_Y", s.y[fast], layout % 2 ? "s.y[1]" : "s.y[4]"), fixed("TAPS_D", s.widths[0], 0),
                fixed("TAPS_H", s.widths[1], 1), fixed("TAPS_W", s.widths[2], 2));

  translate_errors([&] {
    auto stream = stream_of(call.y);
    auto kernel = kernel_with(device.index(), head, windows_source, "windows");
    xpu::NdRange range;
    if (layout >= 2) {
      std::size_t group = info.is_gpu ? 256 : 64 * info.sub_group_size;
      group = std::min({group, info.max_work_group_size, kernel.max_work_group_size()});
      range = xpu::NdRange::linear((static_cast<std::size_t>(s.count) + group - 1) / group, group);
    } else {
      // Several tiles for every core, each large enough to outweigh the launch of a group.
      auto tiles = std::int64_t{info.max_compute_units} * 16;
      std::int64_t min_share = info.is_gpu ? lanes : 64 * lanes;
      auto share = std::max(min_share, s.count / tiles);
      s.tile_columns = std::min(s.columns, (share + lanes - 1) / lanes * lanes);
      s.tile_rows = std::max<std::int64_t>(1, share / s.columns);
      s.column_tiles = (s.columns + s.tile_columns - 1) / s.tile_columns;
      auto all = (s.rows + s.tile_rows - 1) / s.tile_rows * s.column_tiles;
      range = xpu::NdRange::linear(static_cast<std::size_t>((all + sub_groups - 1) / sub_groups),
                                   static_cast<std::size_t>(sub_groups * lanes));
    }
    xpu::Args list;
    list.add(const_cast<void*>(call.x.const_data_ptr())).add(call.y.mutable_data_ptr());
    if (call.mode != sum) list.add(call.where.mutable_data_ptr());
    for (auto& t : tables) list.add(const_cast<void*>(t.index.const_data_ptr()));
    for (auto& t : tables) list.add(const_cast<void*>(t.weight.const_data_ptr()));
    list.add(s);
    xpu::launch(stream, kernel, range, list, call.x.nbytes() + call.y.nbytes());
  });
}

std::array<Stencil, 3> three_stencils(std::span<const Stencil> stencils, bool wide) {
  std::array<Stencil, 3> all{identity_stencil(1, wide), identity_stencil(1, wide), identity_stencil(1, wide)};
  for (std::size_t k = 0; k < stencils.size(); ++k) {
    auto& stencil = all[3 - stencils.size() + k] = stencils[k];
    stencil.wide = wide;
  }
  return all;
}

bool is_wide(const Tensor& t) {
  return t.scalar_type() == at::kDouble || t.scalar_type() == at::kComplexDouble;
}

bool is_average(const Stencil& stencil) {
  return stencil.kind == Stencil::average || stencil.kind == Stencil::average_inside ||
         stencil.kind == Stencil::adaptive_average;
}

// The divisors of averages along a dimension, for each result of the forward.
Tensor divisors(Stencil stencil, std::size_t dims_after, const Tensor& like) {
  stencil.is_backward = false;
  std::vector<std::int64_t> counts;
  for (auto& list : compute_taps(stencil))
    counts.push_back(list.empty() ? 1 : std::llround(1 / list[0].weight));
  std::vector<std::int64_t> shape(1 + dims_after, 1);
  shape[0] = static_cast<std::int64_t>(counts.size());
  return at::tensor(counts, at::kLong).to(like.device()).view(shape);
}

// Integers are summed, then divided once, toward zero as in PyTorch. Weights would round at each tap.
void average_integers(const Tensor& out, const Tensor& source, std::span<const Stencil> stencils) {
  std::vector<Stencil> sums(stencils.begin(), stencils.end());
  auto counts = at::ones({}, source.options().dtype(at::kLong));
  for (std::size_t k = 0; k < stencils.size(); ++k) {
    if (!is_average(stencils[k])) continue;
    counts = at::mul(counts, divisors(stencils[k], stencils.size() - 1 - k, source));
    sums[k].kind = stencils[k].kind == Stencil::adaptive_average ? Stencil::adaptive_window : Stencil::window;
    sums[k].scale = 0;
  }
  auto wide = source.to(at::kLong), sum = at::empty(out.sizes(), wide.options());
  bool is_backward = stencils[0].is_backward;
  window_sum(sum, is_backward ? at::div(wide, counts, "trunc") : wide, sums);
  out.copy_(is_backward ? sum : at::div(sum, counts, "trunc"));
}

}  // namespace

void window_sum(const Tensor& out, const Tensor& source, std::span<const Stencil> stencils) {
  if (out.numel() == 0) return;
  if (source.numel() == 0) return void(out.zero_());
  if (at::isIntegralType(source.scalar_type(), true) &&
      std::any_of(stencils.begin(), stencils.end(), is_average))
    return average_integers(out, source, stencils);
  bool wide = is_wide(source);
  int spatial = static_cast<int>(stencils.size());
  auto all = three_stencils(stencils, wide);
  std::int64_t width = 1;
  for (auto& stencil : all) width *= stencil_table(stencil, out.device()).width;
  constexpr std::int64_t max_direct_width = 24;
  if (width <= max_direct_width || spatial == 1) return enqueue({sum, source, out, {}, all, spatial});
  // Large windows are summed one dimension after another, so that the cost is the sum of their sides, not the
  // product. Columns come last, when the fewest are left; the other dimensions are read along memory.
  auto type = at::isReducedFloatingType(source.scalar_type()) ? at::kFloat : source.scalar_type();
  auto format = out.suggest_memory_format();
  Tensor from = source;
  for (int d = 3 - spatial; d < 3; ++d) {
    auto k = static_cast<std::size_t>(d);
    if (all[k].kind == Stencil::identity) continue;
    auto axis = from.dim() - 3 + d;
    std::array<Stencil, 3> one{identity_stencil(1, wide), identity_stencil(1, wide),
                               identity_stencil(1, wide)};
    for (int e = 3 - spatial; e < 3; ++e)
      one[static_cast<std::size_t>(e)] = identity_stencil(from.size(from.dim() - 3 + e), wide);
    one[k] = all[k];
    auto sizes = from.sizes().vec();
    sizes[static_cast<std::size_t>(axis)] = all[k].results();
    bool last = true;
    for (int e = d + 1; e < 3; ++e) last = last && all[static_cast<std::size_t>(e)].kind == Stencil::identity;
    auto to = last ? out : at::empty(sizes, out.options().dtype(type).memory_format(format));
    enqueue({sum, from, to, {}, one, spatial});
    from = to;
  }
}

void window_max(const Tensor& out, const Tensor& where, const Tensor& source,
                std::span<const Stencil> stencils) {
  if (out.numel() == 0) return;
  enqueue({max, source, out, where, three_stencils(stencils, is_wide(source)),
           static_cast<int>(stencils.size())});
}

void window_max_backward(const Tensor& grad_in, const Tensor& grad_out, const Tensor& where,
                         std::span<const Stencil> stencils) {
  if (grad_in.numel() == 0) return;
  if (grad_out.numel() == 0) return void(grad_in.zero_());
  enqueue({chosen, grad_out, grad_in, where, three_stencils(stencils, is_wide(grad_out)),
           static_cast<int>(stencils.size())});
}

}  // namespace torch_xpu

#include "kernels/elementwise/plan.h"

#include <algorithm>

#include "kernels/call.h"
#include "kernels/reciprocal.h"

namespace xpu::kernels {
namespace {

// Columns of a tile that gathers, in vectors: few, so that the cache lines read stay in the L1 cache.
constexpr std::int64_t gather_vectors = 4;

bool all_contiguous(std::span<const Tensor> outputs, std::span<const Tensor> inputs) {
  const Tensor& first = outputs[0];
  auto like_first = [&](const Tensor& t) {
    if (t.ndim != first.ndim) return false;
    std::int64_t step = 1;
    for (int d = t.ndim - 1; d >= 0; --d) {
      if (t.shape[d] != first.shape[d] || (t.strides[d] != step && t.shape[d] != 1)) return false;
      step *= t.shape[d];
    }
    return true;
  };
  return std::all_of(outputs.begin(), outputs.end(), like_first) &&
         std::all_of(inputs.begin(), inputs.end(), like_first);
}

// Elements that a lane loads at once: as many as fill `lane_bytes` with the widest operand, if all operands
// are aligned; otherwise 1.
std::uint8_t vector_length(const Tuning& tuning, std::span<const Tensor> outputs,
                           std::span<const Tensor> inputs) {
  std::size_t widest = 1;
  bool f16 = false;
  auto look = [&](const Tensor& t) {
    widest = std::max(widest, size_of(t.dtype));
    f16 = f16 || t.dtype == DType::f16;
  };
  for (auto& t : outputs) look(t);
  for (auto& t : inputs) look(t);
  if (f16 && !tuning.wide_f16) return 1;
  std::size_t length = static_cast<std::size_t>(tuning.lane_bytes) / widest;
  auto aligned = [&](const Tensor& t) {
    return reinterpret_cast<std::uintptr_t>(t.data) % (length * size_of(t.dtype)) == 0;
  };
  if (length < 2) return 1;
  bool all = std::all_of(outputs.begin(), outputs.end(), aligned) &&
             std::all_of(inputs.begin(), inputs.end(), aligned);
  return all ? static_cast<std::uint8_t>(length) : 1;
}

// Large results benefit, unless they are computed in place: their lines are then in the caches already.
bool benefits_from_streaming(const Tuning& tuning, std::span<const Tensor> outputs,
                             std::span<const Tensor> inputs) {
  std::size_t bytes = 0;
  for (auto& out : outputs) {
    bytes += static_cast<std::size_t>(out.numel()) * size_of(out.dtype);
    for (auto& in : inputs)
      if (in.data == out.data) return false;
  }
  return uses_streaming_stores(tuning, bytes);
}

// True if each row of the results consists of whole cache lines, provided that the first row begins one.
bool has_rows_of_lines(const Plan& plan) {
  auto& v = plan.variant;
  auto& g = plan.geometry;
  if (v.path != Path::rows || v.gathers() || g.size[0] < 512) return false;
  for (int k = 0; k < v.outputs; ++k) {
    auto row = g.dims > 1 ? g.stride[k][1] : 0;
    if (v.kind(k) != 1 || row * static_cast<std::int64_t>(size_of(v.dtype[k])) % 64) return false;
  }
  return true;
}

// If the fastest dimension is short, makes the longest one the rows. Their elements are then gathered, and
// neighbors in the short dimension come from the same cache lines.
void lengthen_rows(Geometry& g, std::int64_t short_row) {
  if (g.size[0] >= short_row) return;
  if (*std::max_element(g.size.begin(), g.size.begin() + g.dims) >= 2 * short_row) g.put_longest_first();
}

std::uint32_t row_kinds(const Geometry& g) {
  std::uint32_t kinds = 0;
  for (int k = 0; k < g.operands; ++k) {
    auto step = g.stride[k][0];
    kinds |= (step == 0 || step == 1 ? static_cast<std::uint32_t>(step) : 2u) << 2 * k;
  }
  return kinds;
}

std::span<const int> in_order(const Geometry& g) {
  static constexpr int order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  return std::span(order).first(static_cast<std::size_t>(g.operands));
}

NdRange add_linear(Args& args, const Tuning& tuning, const Plan& plan) {
  std::int64_t step = tuning.sub_group * plan.variant.vector, steps = (plan.count + step - 1) / step;
  std::int32_t length = tile_length(tuning, steps);
  args.add(plan.count).add(length);
  return tile_range(tuning, (steps + length - 1) / length);
}

NdRange add_rows(Args& args, const Tuning& tuning, const Plan& plan) {
  auto& g = plan.geometry;
  std::int64_t columns = g.size[0], rows = g.dims > 1 ? g.size[1] : 1, outer = g.count / (columns * rows);
  std::int64_t row_vectors = (columns + tuning.sub_group - 1) / tuning.sub_group;
  std::int64_t length = tile_length(tuning, row_vectors * rows * outer);
  std::int64_t widest = plan.variant.gathers() && rows > 1 ? std::min(length, gather_vectors) : length;
  std::int64_t column_tiles = (row_vectors + widest - 1) / widest;
  std::int64_t vectors = (row_vectors + column_tiles - 1) / column_tiles;
  std::int64_t height = std::clamp<std::int64_t>(length / vectors, 1, rows),
               row_tiles = (rows + height - 1) / height;
  std::int64_t tiles = column_tiles * row_tiles * outer;
  PackedStruct packed;
  packed.add(columns).add(rows).add(column_tiles).add(row_tiles).add(tiles);
  packed.add(static_cast<std::int32_t>(vectors)).add(static_cast<std::int32_t>(height));
  packed.add_shape(g, plan.variant.dims, in_order(g)).pass(args);
  return tile_range(tuning, tiles);
}

NdRange add_strided(Args& args, const Tuning& tuning, const Plan& plan) {
  std::int64_t steps = (plan.count + tuning.sub_group - 1) / tuning.sub_group;
  std::int32_t length = tile_length(tuning, steps);
  PackedStruct packed;
  packed.add(plan.count).add(length);
  for (int d = 0; d < plan.variant.dims; ++d) {
    bool divides = d < plan.geometry.dims && !plan.variant.wide_index;
    auto reciprocal = reciprocal_of(divides ? static_cast<std::uint32_t>(plan.geometry.size[d]) : 1);
    packed.add(reciprocal.multiplier).add(reciprocal.shift);
  }
  packed.add_shape(plan.geometry, plan.variant.dims, in_order(plan.geometry)).pass(args);
  return tile_range(tuning, (steps + length - 1) / length);
}

}  // namespace

bool Plan::exceeds_kernel_dims() const {
  return variant.dims == 0;
}

bool Variant::gathers() const {
  for (int k = 0; k < operands; ++k)
    if (kind(k) == 2) return true;
  return false;
}

KeyBits Variant::key_bits(int device) const {
  KeyBits bits;
  for (int k = 0; k < operands; ++k)
    bits.add(5, static_cast<std::uint64_t>(dtype[k])).add(2, static_cast<std::uint64_t>(kind(k)));
  return bits.add(5, static_cast<std::uint64_t>(compute))
      .add(2, static_cast<std::uint64_t>(path))
      .add(1, wide_index)
      .add(6, dims)
      .add(5, vector)
      .add(1, streaming)
      .add(8, static_cast<std::uint64_t>(device));
}

KernelKey Variant::key(int device) const {
  return key_bits(device).key();
}

Plan make_plan(const Tuning& tuning, const Expression& expression, std::span<const Tensor> outputs,
               std::span<const Tensor> inputs, DType compute) {
  Plan plan;
  auto& v = plan.variant;
  v.outputs = static_cast<std::uint8_t>(outputs.size());
  v.operands = static_cast<std::uint8_t>(outputs.size() + inputs.size());
  v.compute = compute;
  int k = 0;
  for (auto& t : outputs) v.dtype[k++] = t.dtype;
  for (auto& t : inputs) v.dtype[k++] = t.dtype;
  if (all_contiguous(outputs, inputs)) {
    plan.count = outputs[0].numel();
    v.vector = vector_length(tuning, outputs, inputs);
    v.streaming = benefits_from_streaming(tuning, outputs, inputs);
    return plan;
  }
  plan = plan_over(coalesce(outputs, inputs, expression.name.c_str(), expression.uses_index), v,
                   expression.uses_index);
  if (has_rows_of_lines(plan)) plan.variant.streaming = benefits_from_streaming(tuning, outputs, inputs);
  return plan;
}

Plan plan_over(const Geometry& geometry, const Variant& variant, bool keep_order, std::int64_t short_row) {
  Plan plan{variant, geometry, geometry.count};
  auto& g = plan.geometry;
  auto& v = plan.variant;
  if (g.count == 0) return plan;
  if (!keep_order) lengthen_rows(g, short_row);
  if (g.linear()) return plan;
  v.wide_index = v.wide_index || !g.fits_32_bits();
  if (g.dims > (g.operands <= 3 ? Geometry::max_kernel_dims_3_operands : Geometry::max_kernel_dims)) {
    v.dims = 0;
    return plan;
  }
  if (g.dims == 1 || g.size[0] >= short_row) {
    v.path = Path::rows;
    v.dims = kernel_dims(g.dims, {2, 4, Geometry::max_kernel_dims, Geometry::max_kernel_dims_3_operands});
    v.kinds = row_kinds(g);
  } else {
    v.path = Path::strided;
    v.dims = kernel_dims(g.dims, {2, 3, 4, Geometry::max_kernel_dims, Geometry::max_kernel_dims_3_operands});
  }
  return plan;
}

NdRange add_geometry(Args& args, const Tuning& tuning, const Plan& plan) {
  switch (plan.variant.path) {
    case Path::linear:
      return add_linear(args, tuning, plan);
    case Path::rows:
      return add_rows(args, tuning, plan);
    default:
      return add_strided(args, tuning, plan);
  }
}

}  // namespace xpu::kernels

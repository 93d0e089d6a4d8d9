#include "kernels/reduce/plan.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>

#include "kernels/call.h"

namespace xpu::kernels {
namespace {

// Dimensions shorter than this leave too many lanes idle.
constexpr std::int64_t short_dimension = 32;
// Accumulators of a lane: along the elements of a result (as in kernels/reduce.sycl), and the minimum of
// neighboring results.
constexpr std::int64_t inner_unroll = 4, outer_unroll = 4;
// Expressions longer than this are not unrolled further than outer_unroll.
constexpr std::size_t long_text = 400;

using Mask = ReducedDims;

/// The output with a dimension for each of the input's, of size 1 where it is reduced.
Tensor with_all_dims(const Tensor& out, const Tensor& in, const Mask& reduced, std::size_t number,
                     const std::string& name) {
  int remaining = static_cast<int>(std::count(reduced.begin(), reduced.begin() + in.ndim, false));
  Tensor full = out;
  full.ndim = in.ndim;
  bool has_all_dims = out.ndim == in.ndim, fits = has_all_dims || out.ndim == remaining;
  for (int d = 0, own = 0; fits && d < in.ndim; ++d) {
    if (reduced[d] && !has_all_dims) {
      full.shape[d] = 1;
      full.strides[d] = 0;
      continue;
    }
    full.shape[d] = out.shape[own];
    full.strides[d] = out.strides[own++];
    fits = full.shape[d] == (reduced[d] ? 1 : in.shape[d]);
  }
  expect<UsageError>(fits, name, ": output ", number, " is ", out, ", which is not ", in,
                     " without the reduced dimensions nor with size 1 in them");
  for (int d = 0; d < in.ndim; ++d)
    expect<UsageError>(full.strides[d] != 0 || full.shape[d] <= 1, name, ": output ", number, " is ", out,
                       ", whose elements overlap; write to a tensor of its own and copy");
  return full;
}

/// The input with the dimensions of `shape`, to which it broadcasts.
Tensor broadcast(const Tensor& in, const Tensor& shape) {
  Tensor full = shape;
  full.data = in.data;
  full.dtype = in.dtype;
  int missing = shape.ndim - in.ndim;
  for (int d = 0; d < shape.ndim; ++d)
    full.strides[d] = d < missing || in.shape[d - missing] == 1 ? 0 : in.strides[d - missing];
  return full;
}

void add_dimension(Geometry& g, std::int64_t size, std::initializer_list<std::span<const Tensor>> groups,
                   int d) {
  g.size[g.dims] = size;
  int k = 0;
  for (auto& group : groups)
    for (auto& tensor : group) g.stride[k++][g.dims] = tensor.strides[d];
  g.operands = k;
  ++g.dims;
}

void build_geometry(ReducePlan& plan, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                    const Mask& mask, bool uses_index) {
  const Tensor& shape = inputs[0];
  std::int64_t position = 1;
  for (int d = shape.ndim - 1; d >= 0; --d) {
    if (!mask[d]) {
      add_dimension(plan.results, shape.shape[d], {inputs, outputs}, d);
      continue;
    }
    add_dimension(plan.reduced, shape.shape[d], {inputs}, d);
    plan.reduced.stride[inputs.size()][plan.reduced.dims - 1] = position;
    position *= shape.shape[d];
  }
  plan.results.operands = static_cast<int>(inputs.size() + outputs.size());
  plan.reduced.operands = static_cast<int>(inputs.size()) + (uses_index ? 1 : 0);
  simplify(plan.results, false);
  simplify(plan.reduced, false);
}

/// Returns true if lanes should lie along results: along the contiguous dimension, unless it is short.
bool choose_outer(Geometry& results, Geometry& reduced) {
  if (results.count == 1) return false;
  if (reduced.count <= 1) return true;
  auto step = [](const Geometry& g) {
    auto s = std::abs(g.stride[0][0]);
    return s == 0 ? std::numeric_limits<std::int64_t>::max() : s;
  };
  bool reduced_is_fastest = step(reduced) < step(results);
  if (reduced_is_fastest && reduced.size[0] >= short_dimension) return false;
  if (!reduced_is_fastest && results.size[0] >= short_dimension) return true;
  results.put_longest_first();
  if (results.size[0] >= short_dimension) return true;
  reduced.put_longest_first();
  return false;
}

/// Returns the length of the source that runs for each element: long sources are unrolled less.
std::size_t text_length(const ReductionExpression& e) {
  std::size_t length = e.helpers.size() + e.update.size() + e.combine.size();
  for (auto& text : e.map) length += text.size();
  return length;
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// The number of chunks in which to split a result if there are `tiles` tiles of whole results.
std::int64_t wanted_chunks(const Tuning& t, std::int64_t tiles, std::int64_t work_of_tile) {
  // Less work than this is done before a second kernel has started.
  std::int64_t min_work = std::int64_t{8} * t.max_tile_length * t.sub_group;
  return std::clamp<std::int64_t>(std::min(ceil_div(t.parts, tiles), work_of_tile / min_work), 1, 4096);
}

void tile_inner(ReducePlan& plan, const Tuning& t) {
  auto& c = plan.tiling;
  auto& r = plan.reduced;
  c.columns = r.size[0];
  c.rows = c.columns ? c.count / c.columns : 0;
  std::int64_t step = t.sub_group * inner_unroll, wanted = wanted_chunks(t, c.results, c.count);
  c.row_chunk = std::max<std::int64_t>(1, ceil_div(c.rows, std::min(c.rows, wanted) + !c.rows));
  std::int64_t row_chunks = std::max<std::int64_t>(1, ceil_div(c.rows, c.row_chunk));
  c.column_chunk = std::max(step, ceil_div(ceil_div(c.columns, ceil_div(wanted, row_chunks)), step) * step);
  c.column_chunks = std::max<std::int64_t>(1, ceil_div(c.columns, c.column_chunk));
  c.chunks = c.column_chunks * row_chunks;
  std::int64_t vectors = std::max<std::int64_t>(1, c.rows * ceil_div(c.columns, t.sub_group));
  if (c.chunks == 1) c.per_tile = std::max<std::int64_t>(1, tile_length(t, vectors * c.results) / vectors);
  c.result_tiles = ceil_div(c.results, c.per_tile);
}

/// Neighboring vectors of results that a lane computes at once.
///
/// A CPU core prefetches contiguous memory only, so there it is as many as registers can hold. A GPU has
/// other sub-groups to run while one waits.
std::int64_t choose_outer_unroll(const ReductionExpression& e, DType compute, std::int64_t columns,
                                 const Tuning& t) {
  auto max_unroll = outer_unroll;
  if (t.sub_groups == 1 && text_length(e) <= long_text) {
    auto words = std::max(e.accumulators.size(), static_cast<std::size_t>(e.inputs)) *
                 std::max<std::size_t>(1, size_of(compute) / 4);
    max_unroll = std::max<std::int64_t>(max_unroll, static_cast<std::int64_t>(std::bit_floor(16 / words)));
  }
  for (auto unroll = max_unroll; unroll >= outer_unroll; unroll /= 2)
    if (columns >= unroll * t.sub_group) return unroll;
  return 1;
}

void tile_outer(ReducePlan& plan, const ReductionExpression& expression, const Tuning& t) {
  auto& c = plan.tiling;
  c.columns = plan.results.size[0];
  c.rows = c.results / c.columns;
  plan.variant.unroll =
      static_cast<std::uint8_t>(choose_outer_unroll(expression, plan.variant.compute, c.columns, t));
  std::int64_t block = t.sub_group * plan.variant.unroll, blocks = ceil_div(c.columns, block);
  std::int64_t wanted = wanted_chunks(t, blocks * c.rows, c.count * block);
  c.row_chunk = ceil_div(c.count, wanted);
  c.chunks = c.row_chunk ? ceil_div(c.count, c.row_chunk) : 1;
  std::int64_t vectors = std::max<std::int64_t>(1, c.row_chunk * plan.variant.unroll);
  std::int64_t length = tile_length(t, vectors * blocks * c.rows * c.chunks);
  c.per_tile = std::clamp<std::int64_t>(length / vectors, 1, blocks);
  c.result_tiles = ceil_div(blocks, c.per_tile) * c.rows;
}

std::uint32_t kinds(const ReducePlan& plan, std::size_t inputs, std::size_t outputs) {
  std::uint32_t kinds = 0;
  auto& lanes = plan.variant.outer ? plan.results : plan.reduced;
  for (std::size_t k = 0; k < outputs + inputs; ++k) {
    bool is_output = k < outputs;
    auto step = !is_output           ? lanes.stride[k - outputs][0]
                : plan.variant.outer ? lanes.stride[inputs + k][0]
                                     : 0;
    kinds |= (step == 0 || step == 1 ? static_cast<std::uint32_t>(step) : 2u) << 2 * k;
  }
  return kinds;
}

bool needs_wide_index(const ReducePlan& plan, const Tuning& t) {
  constexpr std::int64_t limit = 0x7fffffff;
  auto& lanes = plan.variant.outer ? plan.results : plan.reduced;
  std::int64_t extent = plan.variant.outer ? t.sub_group * plan.variant.unroll : plan.tiling.column_chunk;
  if (plan.tiling.count > limit || extent > limit) return true;
  for (int k = 0; k < lanes.operands; ++k)
    if (std::abs(lanes.stride[k][0]) > limit / extent) return true;
  return false;
}

}  // namespace

ReducedDims reduced_dims(const Tensor& shape, std::span<const int> dims, const std::string& name) {
  ReducedDims mask{};
  for (int d : dims) {
    int from_start = d < 0 ? d + shape.ndim : d;
    expect<UsageError>(from_start >= 0 && from_start < shape.ndim, name, ": dimension ", d, " is not one of ",
                       shape);
    expect<UsageError>(!mask[from_start], name, ": dimension ", d, " is given twice");
    mask[from_start] = true;
  }
  return mask;
}

KernelKey ReduceVariant::key(int device) const {
  KeyBits bits;
  for (int k = 0; k < operands; ++k)
    bits.add(5, static_cast<std::uint64_t>(dtype[k])).add(2, kinds >> 2 * k & 3);
  return bits.add(5, static_cast<std::uint64_t>(compute))
      .add(1, outer)
      .add(1, split)
      .add(1, wide_index)
      .add(6, result_dims)
      .add(6, reduced_dims)
      .add(6, unroll)
      .add(8, static_cast<std::uint64_t>(device))
      .key();
}

ReducePlan make_reduce_plan(const Tuning& tuning, const ReductionExpression& expression,
                            std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                            std::span<const int> dims, DType compute) {
  ReducePlan plan;
  auto& v = plan.variant;
  v.outputs = static_cast<std::uint8_t>(outputs.size());
  v.operands = static_cast<std::uint8_t>(outputs.size() + inputs.size());
  v.compute = compute;
  int k = 0;
  for (auto& t : outputs) v.dtype[k++] = t.dtype;
  for (auto& t : inputs) v.dtype[k++] = t.dtype;
  check_inputs(inputs, inputs[0], expression.name.c_str());
  Mask mask = reduced_dims(inputs[0], dims, expression.name);
  Tensor out[Reduction::max_operands], in[Reduction::max_operands];
  for (std::size_t i = 0; i < inputs.size(); ++i) in[i] = broadcast(inputs[i], inputs[0]);
  for (std::size_t o = 0; o < outputs.size(); ++o)
    out[o] = with_all_dims(outputs[o], inputs[0], mask, o, expression.name);
  build_geometry(plan, {out, outputs.size()}, {in, inputs.size()}, mask, expression.uses_index);
  plan.tiling.results = plan.results.count;
  plan.tiling.count = plan.reduced.count;
  if (plan.tiling.results == 0) return plan;
  if (std::max(plan.results.dims, plan.reduced.dims) > Geometry::max_kernel_dims) {
    v.result_dims = 0;
    return plan;
  }
  v.outer = choose_outer(plan.results, plan.reduced);
  v.outer ? tile_outer(plan, expression, tuning) : tile_inner(plan, tuning);
  v.split = plan.tiling.chunks > 1;
  plan.tiling.tiles = plan.tiling.result_tiles * plan.tiling.chunks;
  v.wide_index = needs_wide_index(plan, tuning);
  v.result_dims = kernel_dims(plan.results.dims, {1, 2, 4});
  v.reduced_dims = kernel_dims(plan.reduced.dims, {2, 4});
  v.kinds = kinds(plan, inputs.size(), outputs.size());
  return plan;
}

void add_shape(Args& args, const ReducePlan& plan) {
  auto& v = plan.variant;
  auto& c = plan.tiling;
  int inputs = v.operands - v.outputs, index = plan.reduced.operands > inputs ? inputs : -1;
  int results[Reduction::max_operands], reduced[Reduction::max_operands + 1];
  for (int k = 0; k < v.operands; ++k) {
    results[k] = k < v.outputs ? inputs + k : k - v.outputs;
    reduced[k] = k < v.outputs ? -1 : k - v.outputs;
  }
  reduced[v.operands] = index;
  PackedStruct packed;
  packed.add(c.results).add(c.count).add(c.columns).add(c.rows).add(c.column_chunk).add(c.row_chunk);
  packed.add(c.column_chunks).add(c.chunks).add(c.tiles).add(c.result_tiles).add(c.per_tile);
  packed.add(index < 0 ? std::int64_t{0} : plan.reduced.offset[index]);
  packed.add_shape(plan.results, v.result_dims, {results, v.operands});
  packed.add_shape(plan.reduced, v.reduced_dims, {reduced, v.operands + std::size_t{1}});
  packed.pass(args);
}

}  // namespace xpu::kernels

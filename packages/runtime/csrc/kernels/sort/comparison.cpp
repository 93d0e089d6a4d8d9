#include <algorithm>
#include <vector>

#include "compile/source/embedded.h"
#include "kernels/dtype_text.h"
#include "kernels/require.h"
#include "kernels/sort/call.h"
#include "kernels/tuning.h"
#include "xpu/copy.h"
#include "xpu/kernels/sort.h"

namespace xpu::kernels {
namespace {

// As in kernels/sort_merge.sycl.
struct Rows {
  std::int64_t count, n, tiles, each;
};

struct Shape {
  int lanes, items, part;
  std::int64_t tile() const { return std::int64_t{lanes} * items; }
};

// Twice a run of elements is counted by an int.
constexpr std::int64_t max_row_length = std::int64_t{1} << 30;
constexpr std::int64_t min_work = 4096, gather_length = 1024;
enum Which : int { tiles, merge, gather };

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// The smallest group whose tile holds a row, or the largest.
Shape shape_of(const Tuning& tune, std::int64_t n) {
  if (tune.sub_groups == 1) return {1, 2048, 2048};
  Shape shape{tune.sub_groups * tune.sub_group, 8, 8};
  while (shape.lanes / 4 >= tune.sub_group && shape.tile() / 4 >= n) shape.lanes /= 4;
  return shape;
}

void check(const char* name, std::span<const Tensor> outs, std::span<const Tensor> ins) {
  expect<UsageError>(!ins.empty() && ins.size() <= ComparisonSort::max_operands, name, ": got ", ins.size(),
                     " operands, expected 1 to ", ComparisonSort::max_operands);
  expect<UsageError>(outs.size() == ins.size(), name, ": got ", outs.size(), " outputs, expected ",
                     ins.size(), ", one an operand");
  for (auto& in : ins) require_same_shape(name, in, ins[0]);
}

}  // namespace

struct ComparisonSort::State {
  SortComparison comparison;
  mutable KernelTable kernels;

  Kernel kernel(Stream stream, std::span<const Tensor> ins, const Shape& shape, Which which) const;
  std::string prelude(std::span<const Tensor> ins) const;
};

/// OPERANDS, SOURCES and so on, as the kernels ask for them.
std::string ComparisonSort::State::prelude(std::span<const Tensor> ins) const {
  std::string text = "#include <xpu/convert.h>\n";
  for (auto& header : comparison.headers) text += join("#include <xpu/", header, ".h>\n");
  std::string operands, results, sources, targets, source_fields, target_fields, loads, moves;
  for (std::size_t i = 0; i < ins.size(); ++i) {
    auto comma = i ? ", " : "";
    auto stored = storage_type(ins[i].dtype);
    operands += join(comma, "xpu::global<const ", stored, "> p", i);
    results += join(comma, "xpu::global<", stored, "> q", i);
    sources += join(comma, "p", i);
    targets += join(comma, "q", i);
    source_fields += join("xpu::global<const ", stored, "> p", i, "; ");
    target_fields += join("xpu::global<", stored, "> q", i, "; ");
    for (auto which : {"a", "b"})
      loads += join("  [[maybe_unused]] ", math_type(ins[i].dtype), " ", which, i, " = xpu::to<",
                    math_type(ins[i].dtype), ">(xpu::to<", value_type(ins[i].dtype), ">(in.p", i,
                    "[first + at_", which, "]));\n");
    moves += join("  out.q", i, "[to] = in.p", i, "[from];\n");
  }
  return join(text, "struct Sources { ", source_fields, "};\nstruct Results { ", target_fields,
              "};\n#define OPERANDS ", operands, "\n#define RESULTS ", results, "\n#define SOURCES ", sources,
              "\n#define TARGETS ", targets,
              "\nXPU_FN bool before(const Sources& in, xpu::i64 first, xpu::u32 at_a, xpu::u32 at_b) {\n",
              loads, "  return ", comparison.less,
              ";\n}\nXPU_FN void move(const Sources& in, const Results& out, xpu::i64 to, xpu::i64 from) {\n",
              moves, "}\n");
}

ComparisonSort::ComparisonSort(SortComparison comparison) : state_(std::make_unique<State>()) {
  state_->comparison = std::move(comparison);
}
ComparisonSort::~ComparisonSort() = default;

Kernel ComparisonSort::State::kernel(Stream stream, std::span<const Tensor> ins, const Shape& shape,
                                     Which which) const {
  KernelKey key{static_cast<std::uint64_t>(stream.device()) | static_cast<std::uint64_t>(which) << 16 |
                    static_cast<std::uint64_t>(shape.lanes) << 24,
                ins.size()};
  for (auto& in : ins) key.low = key.low << 5 | static_cast<std::uint64_t>(in.dtype);
  static const char* const names[] = {"sort_tiles", "sort_merge", "sort_gather"};
  return kernels.find_or_make(key, [&] {
    return build_shared_kernel(
        stream.device(),
        join(prelude(ins), "#define LANES ", shape.lanes, "\n#define ITEMS ", shape.items, "\n#define PART ",
             shape.part, "\n", kernel_source("sort_merge.sycl")),
        names[which]);
  });
}

void ComparisonSort::operator()(Stream stream, std::span<const Tensor> outs, std::span<const Tensor> ins,
                                int dim) const {
  const char* name = state_->comparison.name.c_str();
  check(name, outs, ins);
  std::vector<ContiguousInput> from;
  std::vector<ContiguousOutput> to;
  std::vector<ScratchBuffer> copies;
  Args operands, results;
  SortArrays arrays;
  for (std::size_t i = 0; i < ins.size(); ++i) {
    arrays = sort_arrays(name, outs[i], Tensor(), ins[i], dim);
    require_number(name, stream, ins[i].dtype);
    expect<Unsupported>(arrays.n <= max_row_length, name, ": got rows of ", arrays.n,
                        " elements, expected at most ", max_row_length);
    if (arrays.in.numel() == 0) continue;
    require_memory(name, arrays.values);
    from.emplace_back(stream, arrays.in);
    to.emplace_back(stream, arrays.values);
  }
  if (arrays.in.numel() == 0) return;
  for (auto& in : from) {
    const void* data = in.tensor().data;
    // Memory that is written last must not be read after that.
    if (std::any_of(to.begin(), to.end(), [&](auto& out) { return out.tensor().data == data; })) {
      auto bytes = static_cast<std::size_t>(in.tensor().numel()) * size_of(in.tensor().dtype);
      copies.emplace_back(stream, bytes);
      copy(stream, copies.back().data(), data, bytes);
      data = copies.back().data();
    }
    operands.add(data);
  }
  results = operands;
  for (auto& out : to) results.add(out.tensor().data);

  auto& tune = tuning(stream.device());
  auto shape = shape_of(tune, arrays.n);
  Rows rows{arrays.count, arrays.n, ceil_div(arrays.n, shape.tile()), 1};
  if (shape.lanes == 1) rows.each = std::max<std::int64_t>(1, min_work / std::min(arrays.n, shape.tile()));
  auto launch_groups = [&](Which which, std::int64_t tasks, std::int64_t each, const Args& list) {
    launch(stream, state_->kernel(stream, ins, shape, which),
           NdRange::linear(static_cast<std::size_t>(ceil_div(tasks, each)),
                           static_cast<std::size_t>(shape.lanes)),
           list);
  };
  auto size = static_cast<std::size_t>(rows.count * rows.n) * 4;
  ScratchBuffer positions(stream, size), next(stream, rows.tiles > 1 ? size : 0);
  launch_groups(tiles, rows.count * rows.tiles, rows.each, Args(operands).add(positions.data()).add(rows));
  for (int run = static_cast<int>(shape.tile()); run < rows.n; run *= 2) {
    launch_groups(merge, rows.count * ceil_div(rows.n, shape.part), shape.lanes,
                  Args(operands).add(positions.data()).add(next.data()).add(rows).add(run));
    std::swap(positions, next);
  }
  launch(stream, state_->kernel(stream, ins, shape, gather),
         tile_range(tune, ceil_div(rows.count * rows.n, gather_length)),
         results.add(positions.data()).add(rows).add(gather_length));
  for (auto& out : to) out.finish();
}

}  // namespace xpu::kernels

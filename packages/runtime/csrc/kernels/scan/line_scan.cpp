#include "kernels/scan/line_scan.h"

#include <algorithm>

#include "compile/source/embedded.h"
#include "kernels/contiguous.h"
#include "kernels/require.h"
#include "kernels/tuning.h"

namespace xpu::kernels {
namespace {

// As in the kernel sources.
struct Lines {
  std::int64_t n, count, inner;
  std::int64_t chunk, blocks, each;
};

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// How lines are cut decides the order floats are added in, so it follows from the shape alone: any number of
// compute units gives the same bits.
namespace cpu {
constexpr std::int64_t max_blocks = 1024, min_row_block = 2048, min_column_block = 256, short_work = 4096;
}
// On a GPU: lines of one group each that fill it; groups, and lanes, among which fewer lines are divided.
// More column blocks than `few_blocks`, as in the kernel source, have their totals scanned by a kernel.
namespace gpu {
constexpr std::int64_t enough_rows = 256, max_groups = 2048, min_row_tiles = 4;
constexpr std::int64_t max_lanes = 131072, max_column_blocks = 16384, min_column_block = 64, few_blocks = 32;
// Sub-groups that fill it, and elements of short rows that one takes if there are more.
constexpr std::int64_t max_sub_groups = 16384, short_work = 1024;
}  // namespace gpu

/// What scans a block of a line: a sub-group or a lane (scan.sycl), or on a GPU a group or a lane
/// (scan_blocks.sycl).
enum class Form : std::uint8_t { sub_group_rows, columns, group_rows, gpu_columns };

struct Division {
  Lines lines;
  Form form;
  int items;  ///< that an item reads at once
};

Lines lines_of(const Tensor& t, int dim) {
  Lines s{t.ndim ? t.shape[dim] : 1, 1, 1, 0, 1, 1};
  for (int i = 0; i < t.ndim; ++i) {
    if (i != dim) s.count *= t.shape[i];
    if (i > dim) s.inner *= t.shape[i];
  }
  return s;
}

/// Cuts lines into at most `wanted` blocks whose size is a multiple of `unit`.
void cut(Lines& s, std::int64_t wanted, std::int64_t unit) {
  s.chunk = ceil_div(ceil_div(s.n, wanted), unit) * unit;
  s.blocks = ceil_div(s.n, s.chunk);
}

Division divide_for_cpu(Lines s, const Tuning& tune) {
  using namespace cpu;
  int lanes = tune.sub_group;
  bool rows = s.inner == 1 && s.n >= lanes;
  std::int64_t enough = rows ? 256 : max_blocks * lanes / 4,
               min_block = rows ? min_row_block : min_column_block;
  std::int64_t wanted =
      s.count < enough ? std::min(ceil_div(rows ? max_blocks : enough, s.count), ceil_div(s.n, min_block))
                       : 1;
  cut(s, wanted, lanes);
  if (rows && s.blocks == 1)
    s.each = std::clamp<std::int64_t>(s.count / max_blocks, 1, ceil_div(short_work, s.n));
  // A core fetches ahead by itself.
  return {s, rows ? Form::sub_group_rows : Form::columns, 1};
}

Division divide_for_gpu(Lines s, const Tuning& tune, std::size_t accumulator_bytes) {
  using namespace gpu;
  // Several loads should be on their way. Wider accumulators need more registers.
  int items = accumulator_bytes > 4 ? 4 : 8;
  if (s.inner > 1 || s.n < tune.sub_group) {
    cut(s, std::min({ceil_div(max_lanes, s.count), ceil_div(s.n, min_column_block), max_column_blocks}), 1);
    return {s, Form::gpu_columns, items};
  }
  std::int64_t tile = std::int64_t{tune.sub_groups} * tune.sub_group * items;
  if (s.n <= tile / 2) {
    cut(s, 1, 1);
    s.each = std::clamp<std::int64_t>(s.count / max_sub_groups, 1, ceil_div(short_work, s.n));
    return {s, Form::sub_group_rows, 4};
  }
  cut(s, s.count < enough_rows ? std::min(max_groups / s.count, ceil_div(s.n, tile * min_row_tiles)) : 1,
      tile);
  return {s, Form::group_rows, items};
}

struct Launcher {
  Stream stream;
  const LineScan& call;
  KernelTable& kernels;
  std::string (*prelude)(void*);
  void* context;
  const Tuning& tune;
  Division division;
  bool rows = division.form == Form::sub_group_rows || division.form == Form::group_rows;
  bool by_blocks = division.form == Form::group_rows || division.form == Form::gpu_columns;

  enum Which : std::uint8_t { reduce, carries, scan };

  Kernel kernel(Which which) const {
    KernelKey key;
    key.high = static_cast<std::uint64_t>(stream.device());
    key.low = static_cast<std::uint64_t>(call.in.dtype) | static_cast<std::uint64_t>(call.out.dtype) << 8 |
              static_cast<std::uint64_t>(which) << 16 | static_cast<std::uint64_t>(division.form) << 18 |
              static_cast<std::uint64_t>(call.options.exclusive) << 20 |
              static_cast<std::uint64_t>(call.options.reverse) << 21 |
              static_cast<std::uint64_t>(call.second.data != nullptr) << 22;
    return kernels.find_or_make(key, [&] {
      std::string source = prelude(context);
      source += join("#define ROWS ", rows, "\n#define EXCLUSIVE ", call.options.exclusive,
                     "\n#define REVERSE ", call.options.reverse, "\n#define COMMUTES ", call.commutes,
                     "\n#define ITEMS ", division.items, "\n");
      source += kernel_source(by_blocks ? "scan_blocks.sycl" : "scan.sycl");
      static const char* const names[2][3] = {{"reduce_columns", "carries", "scan_columns"},
                                              {"reduce_rows", "carries", "scan_rows"}};
      return build_shared_kernel(stream.device(), source, names[rows][which]);
    });
  }

  NdRange range(std::int64_t items) const { return tile_range(tune, ceil_div(items, tune.sub_group)); }
  NdRange groups(std::int64_t count) const { return range(count * tune.sub_groups * tune.sub_group); }
  /// The items that work on the blocks of so many division.lines.
  NdRange blocks_range(std::int64_t line_count) const {
    std::int64_t blocks = line_count * division.lines.blocks;
    if (division.form == Form::group_rows) return groups(blocks);
    return range(rows ? blocks * tune.sub_group : blocks);
  }
  bool has_carries() const {
    return by_blocks ? !rows && division.lines.blocks > gpu::few_blocks : division.lines.blocks > 1;
  }

  void run(const Tensor& in, const Tensor& out, const Tensor& second) const {
    ScratchBuffer totals;
    if (division.lines.blocks > 1) {
      totals = ScratchBuffer(stream, static_cast<std::size_t>(division.lines.count * division.lines.blocks) *
                                         call.accumulator_bytes);
      launch(stream, kernel(reduce), blocks_range(division.lines.count),
             args(in.data, totals.data(), division.lines));
      if (has_carries())
        launch(stream, kernel(carries),
               by_blocks ? groups(division.lines.count) : range(division.lines.count * tune.sub_group),
               args(totals.data(), division.lines));
    }
    auto bytes = static_cast<std::size_t>(in.numel()) * (size_of(in.dtype) + size_of(out.dtype));
    launch(stream, kernel(scan), blocks_range(ceil_div(division.lines.count, division.lines.each)),
           args(in.data, out.data, second.data, totals.data(), division.lines), bytes);
  }
};

}  // namespace

void LineScanner::queue(Stream stream, const LineScan& call, std::string (*prelude)(void*), void* context) {
  require_same_shape(call.name, call.out, call.in);
  for (auto dtype : {call.in.dtype, call.out.dtype})
    require_number(call.name, stream, call.orders ? dtype : part_type(dtype));
  int dim = wrap_dim(call.name, call.dim, call.in);
  if (call.in.numel() == 0) return;
  require_memory(call.name, call.in);
  require_memory(call.name, call.out);
  auto& tune = tuning(stream.device());
  ContiguousInput in(stream, call.in);
  ContiguousOutput out(stream, call.out), second(stream, call.second);
  auto lines = lines_of(call.in, dim);
  auto division = tune.sub_groups == 1 ? divide_for_cpu(lines, tune)
                                       : divide_for_gpu(lines, tune, call.accumulator_bytes);
  Launcher{stream, call, kernels_, prelude, context, tune, division}.run(in.tensor(), out.tensor(),
                                                                         second.tensor());
  out.finish();
  if (call.second.data) second.finish();
}

}  // namespace xpu::kernels

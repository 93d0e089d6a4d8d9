#include "kernels/scan/line_scan.h"

#include <algorithm>

#include "compile/source/embedded.h"
#include "kernels/contiguous.h"
#include "kernels/require.h"
#include "kernels/tuning.h"

namespace xpu::kernels {
namespace {

// As in the kernel source.
struct Lines {
  std::int64_t n, count, inner;
  std::int64_t chunk, blocks, each;
};

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// How lines are cut decides the order floats are added in, so it follows from the shape alone: any number of
// compute units gives the same bits.
constexpr std::int64_t max_blocks = 1024, min_row_block = 2048, min_column_block = 256, short_work = 4096;

bool by_rows(const Lines& s, int lanes) {
  return s.inner == 1 && s.n >= lanes;
}

Lines cut(const Tensor& t, int dim, int lanes) {
  Lines s{t.ndim ? t.shape[dim] : 1, 1, 1, 0, 1, 1};
  for (int i = 0; i < t.ndim; ++i) {
    if (i != dim) s.count *= t.shape[i];
    if (i > dim) s.inner *= t.shape[i];
  }
  bool rows = by_rows(s, lanes);
  std::int64_t enough = rows ? 256 : max_blocks * lanes / 4,
               min_block = rows ? min_row_block : min_column_block;
  std::int64_t wanted =
      s.count < enough ? std::min(ceil_div(rows ? max_blocks : enough, s.count), ceil_div(s.n, min_block))
                       : 1;
  s.chunk = ceil_div(ceil_div(s.n, wanted), lanes) * lanes;
  s.blocks = ceil_div(s.n, s.chunk);
  if (rows && s.blocks == 1)
    s.each = std::clamp<std::int64_t>(s.count / max_blocks, 1, ceil_div(short_work, s.n));
  return s;
}

struct Launcher {
  Stream stream;
  const LineScan& call;
  KernelTable& kernels;
  std::string (*prelude)(void*);
  void* context;
  const Tuning& tune;
  Lines lines;
  bool rows;

  enum Which : std::uint8_t { reduce, carries, scan };

  // A core fetches ahead by itself. On a GPU several loads should be on their way; with 8 some kernels spill.
  int tiles_at_once() const { return tune.sub_groups == 1 ? 1 : 4; }

  Kernel kernel(Which which) const {
    KernelKey key;
    key.high = static_cast<std::uint64_t>(stream.device());
    key.low = static_cast<std::uint64_t>(call.in.dtype) | static_cast<std::uint64_t>(call.out.dtype) << 8 |
              static_cast<std::uint64_t>(which) << 16 | static_cast<std::uint64_t>(rows) << 18 |
              static_cast<std::uint64_t>(call.options.exclusive) << 19 |
              static_cast<std::uint64_t>(call.options.reverse) << 20 |
              static_cast<std::uint64_t>(call.second.data != nullptr) << 21;
    return kernels.find_or_make(key, [&] {
      std::string source = prelude(context);
      source += join("#define ROWS ", rows, "\n#define EXCLUSIVE ", call.options.exclusive,
                     "\n#define REVERSE ", call.options.reverse, "\n#define COMMUTES ", call.commutes,
                     "\n#define TILES ", tiles_at_once(), "\n");
      source += kernel_source("scan.sycl");
      static const char* const names[2][3] = {{"reduce_columns", "carries", "scan_columns"},
                                              {"reduce_rows", "carries", "scan_rows"}};
      return build_shared_kernel(stream.device(), source, names[rows][which]);
    });
  }

  NdRange sub_groups(std::int64_t count) const { return tile_range(tune, count); }
  NdRange blocks_range(std::int64_t rows_of_lines) const {
    return sub_groups(rows ? rows_of_lines * lines.blocks
                           : ceil_div(lines.count * lines.blocks, tune.sub_group));
  }

  void run(const Tensor& in, const Tensor& out, const Tensor& second) const {
    ScratchBuffer totals;
    if (lines.blocks > 1) {
      totals = ScratchBuffer(stream,
                             static_cast<std::size_t>(lines.count * lines.blocks) * call.accumulator_bytes);
      launch(stream, kernel(reduce), blocks_range(lines.count), args(in.data, totals.data(), lines));
      launch(stream, kernel(carries), sub_groups(lines.count), args(totals.data(), lines));
    }
    auto bytes = static_cast<std::size_t>(in.numel()) * (size_of(in.dtype) + size_of(out.dtype));
    launch(stream, kernel(scan), blocks_range(ceil_div(lines.count, lines.each)),
           args(in.data, out.data, second.data, totals.data(), lines), bytes);
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
  auto lines = cut(call.in, dim, tune.sub_group);
  Launcher{stream, call, kernels_, prelude, context, tune, lines, by_rows(lines, tune.sub_group)}.run(
      in.tensor(), out.tensor(), second.tensor());
  out.finish();
  if (call.second.data) second.finish();
}

}  // namespace xpu::kernels

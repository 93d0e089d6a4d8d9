#include <algorithm>

#include "compile/source/embedded.h"
#include "kernels/scratch_buffer.h"
#include "kernels/sort/rows.h"
#include "kernels/tuning.h"
#include "process/immortal.h"
#include "xpu/copy.h"
#include "xpu/error.h"

namespace xpu::kernels {
namespace {

// As in kernels/sort_radix.sycl.
struct Rows {
  std::int64_t count, n, chunk, blocks;
  std::uint64_t flip;
};

constexpr std::int64_t digits = 256, min_item_block = 16384, min_group_block = 8192, finish_tile = 4096;
enum Which : int { count_digits, find_places, move, finish };

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

Rows cut(const RowSort& sort, const Tuning& tune, const SortShape& shape) {
  std::int64_t min_block = shape.lanes == 1 ? min_item_block : min_group_block;
  std::int64_t blocks = std::min(ceil_div(tune.tiles, sort.count), ceil_div(sort.n, min_block));
  Rows rows{sort.count, sort.n, ceil_div(ceil_div(sort.n, blocks), min_block) * min_block, 0, sort.flip()};
  rows.blocks = ceil_div(sort.n, rows.chunk);
  return rows;
}

// The groups of sort_places: of one item each, a row's; otherwise of a lane for each digit, or a digit's.
NdRange places_range(const Rows& rows, const Tuning& tune, const SortShape& shape) {
  if (shape.lanes == 1) return NdRange::linear(static_cast<std::size_t>(rows.count), 1);
  std::int64_t all = rows.count * digits,
               groups = rows.blocks < tune.sub_group ? ceil_div(all, shape.lanes) : all;
  return NdRange::linear(static_cast<std::size_t>(groups), static_cast<std::size_t>(shape.lanes));
}

Kernel kernel(const RowSort& sort, const SortShape& shape, Which which) {
  static auto& kernels = immortal<KernelTable>();
  static const char* const names[] = {"sort_count", "sort_places", "sort_move", "sort_finish"};
  return kernels.find_or_make(sort_key(sort, which * 2 + sort.places()), [&] {
    return build_shared_kernel(
        sort.stream.device(),
        join(sort_prelude(sort), "#define LANES ", shape.lanes, "\n#define ITEMS ", shape.items,
             "\n#define PLACES ", sort.places(), "\n", kernel_source("sort_radix.sycl")),
        names[which]);
  });
}

}  // namespace

void sort_long_rows(const RowSort& sort, const SortShape& shape) {
  Stream stream = sort.stream;
  auto& tune = tuning(stream.device());
  Rows rows = cut(sort, tune, shape);
  int passes = static_cast<int>(size_of(sort.dtype));
  std::size_t size = sort.size(), key_bytes = size * size_of(sort.dtype),
              place_bytes = sort.places() ? size * 4 : 0;
  auto row_count = static_cast<std::size_t>(rows.count);
  ScratchBuffer keys0(stream, key_bytes), keys1(stream, key_bytes), positions0(stream, place_bytes),
      positions1(stream, place_bytes), where(stream, row_count * static_cast<std::size_t>(passes + 1) * 4),
      counts(stream, row_count * static_cast<std::size_t>(digits * rows.blocks) * 4),
      totals(stream, shape.lanes > 1 ? row_count * static_cast<std::size_t>(digits) * 4 : 0);
  // Groups write values in the last pass, whose source may still be the input.
  const void* in = sort.in;
  ScratchBuffer input_copy;
  if (shape.lanes > 1 && in == sort.values) {
    input_copy = ScratchBuffer(stream, key_bytes);
    copy(stream, input_copy.data(), in, key_bytes);
    in = input_copy.data();
  }
  auto lanes = static_cast<std::size_t>(shape.lanes);
  auto blocks = NdRange::linear(row_count * static_cast<std::size_t>(rows.blocks), lanes);
  Kernel count = kernel(sort, shape, count_digits), places = kernel(sort, shape, find_places),
         moves = kernel(sort, shape, move);
  for (int pass = 0; pass < passes; ++pass) {
    launch(stream, count, blocks,
           args(in, keys0.data(), keys1.data(), where.data(), counts.data(), rows, pass), key_bytes);
    launch(stream, places, places_range(rows, tune, shape),
           args(counts.data(), totals.data(), where.data(), rows, pass));
    launch(stream, moves, blocks,
           args(in, sort.origin, keys0.data(), keys1.data(), positions0.data(), positions1.data(),
                where.data(), counts.data(), totals.data(), sort.values, sort.indices, rows, pass),
           2 * (key_bytes + place_bytes));
  }
  if (shape.lanes > 1) return;
  launch(stream, kernel(sort, shape, finish), tile_range(tune, rows.count * ceil_div(rows.n, finish_tile)),
         args(sort.in, sort.origin, keys0.data(), keys1.data(), positions0.data(), positions1.data(),
              where.data(), sort.values, sort.indices, rows, finish_tile),
         2 * key_bytes);
}

}  // namespace xpu::kernels

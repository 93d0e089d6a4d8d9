// The division of a kernel's work for sizes that are known when it is launched, as xpu_runtime's
// codegen/division.py computes it: a test compares the two.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace torch::aot_inductor {

struct XpuTarget {
  std::int64_t lanes, sub_groups, tiles, min_tile_length, max_tile_length;

  std::int64_t tile(std::int64_t vectors) const {
    return std::min(std::max((vectors + tiles - 1) / tiles, min_tile_length), max_tile_length);
  }
};

inline std::int64_t xpu_ceil(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// The number of tiles, and the size arguments of a kernel: first `count` of `sizes`.
struct XpuDivision {
  std::int64_t tiles = 0;
  std::size_t count = 0;
  std::array<std::int64_t, 40> sizes{};

  XpuDivision(std::int64_t tiles, std::initializer_list<std::int64_t> first) : tiles(tiles) {
    for (auto size : first) sizes[count++] = size;
  }
  /// Adds the multiplier and the shift of a divisor of positions. Without elements nothing is divided.
  XpuDivision& divisor(std::int64_t divisor) {
    if (divisor == 0) divisor = 1;
    std::int64_t shift = 0;
    while ((std::int64_t{1} << shift) < divisor) ++shift;
    sizes[count++] = xpu_ceil(std::int64_t{1} << (31 + shift), divisor);
    sizes[count++] = shift;
    return *this;
  }
  std::int64_t groups(std::int64_t tiles_per_group) const { return xpu_ceil(tiles, tiles_per_group); }
};

inline XpuDivision xpu_divide_line(const XpuTarget& on, std::int64_t rows, std::int64_t columns) {
  auto count = rows * columns, width = on.tile(xpu_ceil(count, on.lanes)) * on.lanes;
  return {xpu_ceil(count, width), {count, width}};
}

/// `limit`: the most vectors of a tile's row, if not 0.
inline XpuDivision xpu_divide_rows(const XpuTarget& on, std::int64_t rows, std::int64_t columns,
                                   std::int64_t limit) {
  if (!rows || !columns) return {0, {0, 0, 0, 0}};
  auto row_vectors = xpu_ceil(columns, on.lanes), length = on.tile(rows * row_vectors);
  auto column_tiles = xpu_ceil(row_vectors, std::min({length, row_vectors, limit ? limit : length}));
  auto vectors = xpu_ceil(row_vectors, column_tiles);
  auto height = std::max<std::int64_t>(1, std::min(length / vectors, rows));
  return {column_tiles * xpu_ceil(rows, height), {rows, height, column_tiles, vectors * on.lanes}};
}

/// `items` work-items share a row.
inline XpuDivision xpu_divide_folds(const XpuTarget& on, std::int64_t rows, std::int64_t columns,
                                    std::int64_t items) {
  auto steps = std::max<std::int64_t>(1, xpu_ceil(columns, items));
  auto height = std::max<std::int64_t>(1, std::min(on.tile(rows * steps) / steps, rows));
  return {xpu_ceil(rows, height), {rows, height}};
}

/// `width` columns are a block. `outer` and `inner`: of folded columns, the outermost size, and the product
/// of the others.
inline XpuDivision xpu_divide_columns(const XpuTarget& on, std::int64_t rows, std::int64_t columns,
                                      std::int64_t width, std::int64_t outer, std::int64_t inner,
                                      bool overlap) {
  std::int64_t wide, per_row;
  if (columns % width == 0 || (overlap && columns > width)) {
    wide = per_row = xpu_ceil(columns, width);
  } else {
    wide = width > on.lanes ? columns / width : 0;
    per_row = wide + xpu_ceil(columns - wide * width, on.lanes);
  }
  auto blocks = rows * per_row;
  auto steps = std::max<std::int64_t>(1, outer * inner * (width / on.lanes));
  auto height = std::max<std::int64_t>(1, std::min(on.tile(blocks * steps) / steps, blocks));
  return {xpu_ceil(blocks, height), {blocks, height, outer, wide, per_row}};
}

}  // namespace torch::aot_inductor

// What the kernels of flex attention share. A lane has a column, such as a query: its products with rows,
// such as keys, its weights and its sums need no other lane. Rows are the same for all lanes, which read them
// from local memory, where the items of a group bring them. So whatever the score and the mask function are,
// nothing crosses lanes.
// The host chooses the sizes of tiles by the device's local memory.
#define XPU_SIZED_FOR_DEVICE
#include <xpu/element.h>
#include <xpu/exp.h>
#include <xpu/group.h>

namespace xpu {

// The blocks of keys that a block of queries sees, or of queries that see a block of keys.
struct FlexBlocks {
  global<const i32> count, index;
  i64 count_strides[3], index_strides[4];

  XPU_FN i32 size(i64 b, i64 h, i64 block) const {
    return count[b * count_strides[0] + h * count_strides[1] + block * count_strides[2]];
  }
  XPU_FN i32 at(i64 b, i64 h, i64 block, i64 i) const {
    return index[b * index_strides[0] + h * index_strides[1] + block * index_strides[2] +
                 i * index_strides[3]];
  }
};

// Local memory, of which a kernel has one piece of each kind.
enum class FlexTile { queries, keys, values, grads, scores, weights, sums, value_sums, maxima, totals };
template <class T, int N, FlexTile WHICH>
inline Local<T, N> flex_tile;

template <class Real>
constexpr Real kLogOf2 = (Real)0.69314718055994531;

constexpr i64 flex_padded(i64 count, i64 rows) {
  return (count + rows - 1) / rows * rows;
}

// A row of a tensor, whose strides are those of batches, heads and rows.
template <class T>
XPU_FN global<T> flex_row(global<T> data, const i64* strides, i64 b, i64 h, i64 row) {
  return data + (b * strides[0] + h * strides[1] + row * strides[2]);
}

// Brings `count` rows of memory into a tile of rows of kPadded numbers.
template <int COUNT, int PADDED, class Real, class T>
XPU_FN void flex_stage(Real* tile, global<const T> from, i64 stride, i32 count) {
  const i32 step = sub_group_count(), own = lane();
  for (i32 row = sub_group_id(); row < count; row += step)
#pragma unroll
    for (i32 first = 0; first < PADDED; first += XPU_SUB_GROUP) {
      const i32 i = first + own;
      if (PADDED % XPU_SUB_GROUP == 0 || i < PADDED)
        tile[row * PADDED + i] =
            COUNT == PADDED || i < COUNT
                ? to<Real>(from[row * stride + (COUNT == PADDED ? i : min_of(i, COUNT - 1))])
                : (Real)0;
    }
}

// Brings a lane's own column of memory into tiles of columns: tile[i][lane].
template <int COUNT, class Real, class T>
XPU_FN void flex_columns(Real* tile, global<const T> from) {
  for (i32 i = 0; i < COUNT; ++i) tile[i * XPU_SUB_GROUP + lane()] = to<Real>(from[i]);
}

// Stores a lane's own column, times a factor.
template <int COUNT, class Real, class T>
XPU_FN void flex_store(global<T> out, const Real* tile, Real factor) {
  for (i32 i = 0; i < COUNT; ++i) out[i] = to<T>(tile[i * XPU_SUB_GROUP + lane()] * factor);
}

// Calls f(first row, their number, whether the mask hides some) for tiles of the rows that a block of columns
// sees: for every PARTS-th of them from the one of number `part` on.
template <int PARTS, class A, class F>
XPU_FN __attribute__((flatten)) void flex_each_tile(const A& a, i64 b, i64 h, i64 block, i64 rows_of_block,
                                                    i64 rows, i64 part, F f) {
  i32 others = (i32)part;  // tiles before the next of this part
  const i32 partial = a.partial.size(b, h, block);
  i32 blocks = partial;
  if constexpr (A::kHasFull) blocks += a.full.size(b, h, block);
  for (i32 i = 0; i < blocks; ++i) {
    const bool masked = i < partial;
    i64 first = 0;
    if (masked) first = a.partial.at(b, h, block, i);
    if constexpr (A::kHasFull)
      if (!masked) first = a.full.at(b, h, block, i - partial);
    first *= rows_of_block;
    const i64 last = min_of(first + rows_of_block, rows);
    for (i64 row = first; row < last; row += A::kTile) {
      if (PARTS == 1 || others == 0) f(row, (i32)min_of(last - row, (i64)A::kTile), masked);
      others = others == 0 ? PARTS - 1 : others - 1;
    }
  }
}

// The products of a lane's column with the rows of a tile: out[row][lane].
template <int ROWS, int COUNT, int PADDED, class Real>
XPU_FN void flex_products(const Real* columns, const Real* tile, Real* out, i32 count) {
  const i32 own = lane();
#pragma nounroll
  for (i32 row = 0; row < count; row += ROWS) {
    Real sum[ROWS] = {};
    const Real* rows = tile + row * PADDED;
#pragma unroll 4
    for (i32 i = 0; i < COUNT; ++i) {
      const Real x = columns[i * XPU_SUB_GROUP + own];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) sum[r] += x * rows[r * PADDED + i];
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) out[(row + r) * XPU_SUB_GROUP + own] = sum[r];
  }
}

// Adds the rows of a tile, each by its weight in the lane: columns[i][lane] = columns[i][lane] * factor + the
// sum.
template <int ROWS, int COUNT, int PADDED, class Real>
XPU_FN void flex_add(Real* columns, const Real* tile, const Real* weights, i32 count, Real factor) {
  const i32 own = lane();
#pragma nounroll
  for (i32 first = 0; first < PADDED; first += ROWS) {
    Real sum[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) sum[r] = columns[(first + r) * XPU_SUB_GROUP + own] * factor;
#pragma unroll 4
    for (i32 row = 0; row < count; ++row) {
      const Real weight = weights[row * XPU_SUB_GROUP + own];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) sum[r] += weight * tile[row * PADDED + first + r];
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) columns[(first + r) * XPU_SUB_GROUP + own] = sum[r];
  }
}

}  // namespace xpu

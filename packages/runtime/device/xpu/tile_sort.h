// A stable sort of a tile of keys with their positions, by a few bits at a time, in the registers and local memory of
// one work-group of Lanes items with Items elements each.
//
// The loops over an item's elements are unrolled, so that these stay in registers.
//
// Every item counts its own elements by digit; a scan of all counters, digit by digit and item by item, gives each
// element its place. Nothing depends on the order in which items run.
#ifndef XPU_DEVICE_TILE_SORT_H
#define XPU_DEVICE_TILE_SORT_H
#include <xpu/group.h>

namespace xpu {

constexpr int kTileBits = 4, kTileDigits = 1 << kTileBits;

// Lanes that each go through a run of 8 or 16 words would all meet in a few banks of local memory, and take turns: one
// word in a sub-group's width stays empty, which puts them into different ones.
XPU_FN constexpr int padded_index(int i) { return i + i / XPU_SUB_GROUP; }

// Local memory of `Count` elements, found by `padded_index`.
template <class T, int Count> using TileMemory = Local<T, padded_index(Count - 1) + 1>;

template <class K, int Lanes, int Items> struct Tile {
  TileMemory<K, Lanes * Items>& key_memory;
  TileMemory<u32, Lanes * Items>& position_memory;
  TileMemory<u32, kTileDigits * Lanes>& counter_memory;
  XPU_FN K& key(int i) { return key_memory[padded_index(i)]; }
  XPU_FN u32& position(int i) { return position_memory[padded_index(i)]; }
  XPU_FN u32& counter(int i) { return counter_memory[padded_index(i)]; }
};

// One round: item l holds elements l * Items and on, before and after; the tile's memory holds them too, after.
template <class K, int Lanes, int Items>
XPU_FN void tile_round(Tile<K, Lanes, Items> tile, Array<K, Items>& keys, Array<u32, Items>& positions, int shift) {
  int me = local_id();
  for (int i = me; i < kTileDigits * Lanes; i += Lanes) tile.counter(i) = 0;
  barrier();
  Array<u32, Items> rank;
#pragma unroll
  for (int j = 0; j < Items; ++j) {
    int digit = (int)(keys[j] >> shift) & (kTileDigits - 1);
    rank[j] = tile.counter(digit * Lanes + me)++;
  }
  barrier();
  u32 sum = 0;
  for (int i = 0; i < kTileDigits; ++i) sum += tile.counter(me * kTileDigits + i);
  u32 before = group_exclusive_scan(sum, Sum(), 0u);
  for (int i = 0; i < kTileDigits; ++i) {
    u32 count = tile.counter(me * kTileDigits + i);
    tile.counter(me * kTileDigits + i) = before;
    before += count;
  }
  barrier();
#pragma unroll
  for (int j = 0; j < Items; ++j) {
    int digit = (int)(keys[j] >> shift) & (kTileDigits - 1);
    u32 at = tile.counter(digit * Lanes + me) + rank[j];
    tile.key(at) = keys[j];
    tile.position(at) = positions[j];
  }
  barrier();
#pragma unroll
  for (int j = 0; j < Items; ++j) {
    keys[j] = tile.key(me * Items + j);
    positions[j] = tile.position(me * Items + j);
  }
  barrier();
}

}  // namespace xpu

#endif

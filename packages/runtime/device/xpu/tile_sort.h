// A stable sort of a tile of keys with their positions, by a few bits at a time, in the registers and local memory of
// one work-group of Lanes items with Items elements each.
//
// The loops over an item's elements are unrolled, so that these stay in registers.
//
// Every item counts its own elements by digit; a scan of all counters, digit by digit and item by item, gives each
// element its place. Nothing depends on the order in which items run. A word holds two counters: those of digit d and of
// digit d + kTileWords.
#ifndef XPU_DEVICE_TILE_SORT_H
#define XPU_DEVICE_TILE_SORT_H
#include <xpu/group.h>

namespace xpu {

constexpr int kTileBits = 4, kTileDigits = 1 << kTileBits, kTileWords = kTileDigits / 2;

// Lanes that each go through a run of 8 or 16 words would all meet in a few banks of local memory, and take turns: one
// word in a sub-group's width stays empty, which puts them into different ones.
XPU_FN constexpr int padded_index(int i) { return i + i / XPU_SUB_GROUP; }

// Local memory of `Count` elements, found by `padded_index`.
template <class T, int Count> using TileMemory = Local<T, padded_index(Count - 1) + 1>;

template <class K, int Lanes, int Items> struct Tile {
  TileMemory<K, Lanes * Items>& key_memory;
  TileMemory<u32, Lanes * Items>& position_memory;
  TileMemory<u32, kTileWords * Lanes>& counter_memory;
  XPU_FN K& key(int i) { return key_memory[padded_index(i)]; }
  XPU_FN u32& position(int i) { return position_memory[padded_index(i)]; }
  XPU_FN u32& counter(int i) { return counter_memory[padded_index(i)]; }
  XPU_FN u32& counter_of(int digit, int item) { return counter((digit & (kTileWords - 1)) * Lanes + item); }
};
XPU_FN int counter_shift(int digit) { return digit < kTileWords ? 0 : 16; }

// Fills the tile's memory with `key(i)` and `position(i)`, neighboring lanes with neighboring elements, and gives each item
// its own elements. As many loads are on their way at a time as there are registers for.
template <class K, int Lanes, int Items, class Key, class Position>
XPU_FN void load_tile(Tile<K, Lanes, Items> tile, Array<K, Items>& keys, Array<u32, Items>& positions, Key key,
                      Position position) {
  constexpr int kLoads = Items > 4 ? 4 : Items;
  int me = local_id();
#pragma unroll 1
  for (int first = me; first < Items * Lanes; first += kLoads * Lanes) {
    Array<K, kLoads> loaded_keys;
    Array<u32, kLoads> loaded_positions;
#pragma unroll
    for (int j = 0; j < kLoads; ++j) {
      loaded_keys[j] = key(first + j * Lanes);
      loaded_positions[j] = position(first + j * Lanes);
    }
#pragma unroll
    for (int j = 0; j < kLoads; ++j) {
      tile.key(first + j * Lanes) = loaded_keys[j];
      tile.position(first + j * Lanes) = loaded_positions[j];
    }
  }
  barrier();
#pragma unroll
  for (int j = 0; j < Items; ++j) {
    keys[j] = tile.key(me * Items + j);
    positions[j] = tile.position(me * Items + j);
  }
}

// One round: item l holds elements l * Items and on, before and after; the tile's memory holds them too, after.
template <class K, int Lanes, int Items>
XPU_FN void tile_round(Tile<K, Lanes, Items> tile, Array<K, Items>& keys, Array<u32, Items>& positions, int shift) {
  static_assert(Items <= 8 && Lanes * Items < 1 << 16);
  int me = local_id();
  auto digit_of = [&](K key) { return (int)(key >> shift) & (kTileDigits - 1); };
  for (int i = me; i < kTileWords * Lanes; i += Lanes) tile.counter(i) = 0;
  barrier();
  u32 ranks = 0;  // among the item's elements with one digit: 4 bits each
#pragma unroll
  for (int j = 0; j < Items; ++j) {
    int digit = digit_of(keys[j]), half = counter_shift(digit);
    u32& counter = tile.counter_of(digit, me);
    ranks |= (counter >> half & 0xffffu) << 4 * j;
    counter += 1u << half;
  }
  barrier();
  u32 sum = 0, total = 0;
#pragma unroll 1
  for (int i = 0; i < kTileWords; ++i) sum += tile.counter(me * kTileWords + i);
  u32 before = group_exclusive_scan(sum, Sum(), 0u, &total);
  before += total << 16;  // the upper digits come after all the lower ones
#pragma unroll 1
  for (int i = 0; i < kTileWords; ++i) {
    u32 count = tile.counter(me * kTileWords + i);
    tile.counter(me * kTileWords + i) = before;
    before += count;
  }
  barrier();
#pragma unroll
  for (int j = 0; j < Items; ++j) {
    int digit = digit_of(keys[j]);
    int at = (int)((tile.counter_of(digit, me) >> counter_shift(digit) & 0xffffu) + (ranks >> 4 * j & 0xfu));
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

// A stable sort of a tile of keys with their positions, by a few bits at a time, in the registers and local memory of
// one work-group of Lanes items with Items elements each.
//
// Every item counts its own elements by digit; a scan of all counters, digit by digit and item by item, gives each
// element its place. Nothing depends on the order in which items run.
#ifndef XPU_DEVICE_TILE_SORT_H
#define XPU_DEVICE_TILE_SORT_H
#include <xpu/group.h>

namespace xpu {

constexpr int kTileBits = 4, kTileDigits = 1 << kTileBits;

template <class K, int Lanes, int Items> struct Tile {
  Local<K, Lanes * Items>& keys;
  Local<u32, Lanes * Items>& positions;
  Local<u32, kTileDigits * Lanes>& counters;
};

// One round: item l holds elements l * Items and on, before and after; the tile's memory holds them too, after.
template <class K, int Lanes, int Items>
XPU_FN void tile_round(Tile<K, Lanes, Items> tile, Array<K, Items>& keys, Array<u32, Items>& positions, int shift) {
  int me = local_id();
  for (int i = me; i < kTileDigits * Lanes; i += Lanes) tile.counters[i] = 0;
  barrier();
  Array<u32, Items> rank;
  for (int j = 0; j < Items; ++j) {
    int digit = (int)(keys[j] >> shift) & (kTileDigits - 1);
    rank[j] = tile.counters[digit * Lanes + me]++;
  }
  barrier();
  u32 sum = 0;
  for (int i = 0; i < kTileDigits; ++i) sum += tile.counters[me * kTileDigits + i];
  u32 before = group_exclusive_scan(sum, Sum(), 0u);
  for (int i = 0; i < kTileDigits; ++i) {
    u32 count = tile.counters[me * kTileDigits + i];
    tile.counters[me * kTileDigits + i] = before;
    before += count;
  }
  barrier();
  for (int j = 0; j < Items; ++j) {
    int digit = (int)(keys[j] >> shift) & (kTileDigits - 1);
    u32 at = tile.counters[digit * Lanes + me] + rank[j];
    tile.keys[at] = keys[j];
    tile.positions[at] = positions[j];
  }
  barrier();
  for (int j = 0; j < Items; ++j) {
    keys[j] = tile.keys[me * Items + j];
    positions[j] = tile.positions[me * Items + j];
  }
  barrier();
}

}  // namespace xpu

#endif

// Inputs and outputs of the kernels of sorts and selections: rows of elements, one after another.
//
// The host puts in front: T, the elements; ORDER; POSITION, the type of indices.
#ifndef XPU_DEVICE_SORT_SOURCE_H
#define XPU_DEVICE_SORT_SOURCE_H
#include <xpu/sort_key.h>

using xpu::i64;
using xpu::u16;
using xpu::u32;
using xpu::u64;
using K = xpu::sort_key<T>;

// Of one row, or of all.
struct Input {
  xpu::global<const K> bits;
  xpu::global<const u32> origin;  // the positions that elements are known by; null: where they are
  K flip;                         // all ones for a descending order

  XPU_FN K key(i64 i) const { return (K)(xpu::key_from_bits<T, ORDER>(bits[i]) ^ flip); }
};

struct Output {
  xpu::global<K> values;
  xpu::global<POSITION> positions;  // may be null, as values may
};

// Element `to` of the output is element `from` of the input, at `position` of its row.
XPU_FN void write(const Input& in, const Output& out, i64 to, i64 from, u32 position, K key) {
  if (out.values) {
    K ascending = (K)(key ^ in.flip);
    K bits = xpu::bits_from_key<T>(ascending);
    if (xpu::merged<T, ORDER>(ascending)) bits = in.bits[from];
    out.values[to] = bits;
  }
  if (out.positions) out.positions[to] = (POSITION)(in.origin ? in.origin[from] : position);
}

#endif

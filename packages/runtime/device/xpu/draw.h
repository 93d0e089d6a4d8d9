// The random numbers of single elements, which are those of a fill (kernels/random.sycl). Element e is made of word
// e % 4 of Philox with subsequence e / 4. A number of 64 bits takes two words: two blocks have those of four elements.
#ifndef XPU_DEVICE_DRAW_H
#define XPU_DEVICE_DRAW_H
#include <xpu/philox.h>

namespace xpu {

XPU_FN u32 draw_u32(u64 seed, u64 block, u64 element) {
  Random4 r = philox(seed, element >> 2, block);
  int k = (int)(element & 3);
  return k & 2 ? (k & 1 ? r[3] : r[2]) : (k & 1 ? r[1] : r[0]);
}

// The block that has the two words of an element: the first two for even elements, the others for odd ones.
XPU_FN Random4 draw_wide_block(u64 seed, u64 block, u64 element) {
  return philox(seed, element >> 2, block + (element >> 1 & 1));
}

// T is float or double, as for normal numbers.
template <class T> XPU_FN T draw_uniform(u64 seed, u64 block, u64 element) {
  if constexpr (same_type<T, double>) {
    Random4 r = draw_wide_block(seed, block, element);
    int k = (int)(element & 1);
    return uniform(k ? r[2] : r[0], k ? r[3] : r[1]);
  } else {
    return uniform(draw_u32(seed, block, element));
  }
}

template <class T> XPU_FN T draw_normal(u64 seed, u64 block, u64 element) {
  int k = (int)(element & 3);
  if constexpr (same_type<T, double>) {
    auto pair = normal2(draw_wide_block(seed, block, element));
    return k & 1 ? pair[1] : pair[0];
  } else {
    Random4 r = philox(seed, element >> 2, block);
    auto pair = normal2(k & 2 ? r[2] : r[0], k & 2 ? r[3] : r[1]);
    return k & 1 ? pair[1] : pair[0];
  }
}

// 0 <= result < range. A range of 64 bits takes a number of 64 bits.
XPU_FN u32 draw_integer(u64 seed, u64 block, u64 element, u32 range) {
  return to_range(draw_u32(seed, block, element), range);
}
XPU_FN u64 draw_integer(u64 seed, u64 block, u64 element, u64 range) {
  Random4 r = draw_wide_block(seed, block, element);
  int k = (int)(element & 1);
  return to_range(k ? r[2] : r[0], k ? r[3] : r[1], range);
}

}  // namespace xpu

#endif

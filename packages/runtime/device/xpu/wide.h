// Several neighboring elements in one access of up to 16 bytes, a word, to which the address must be aligned.
// Places are counted in words: a CPU's vectorizer sees neighbors in words only.
#ifndef XPU_DEVICE_WIDE_H
#define XPU_DEVICE_WIDE_H
#include <xpu/core.h>

namespace xpu {

template <int BYTES>
struct Wide;
template <>
struct Wide<1> {
  using type = u8;
};
template <>
struct Wide<2> {
  using type = u16;
};
template <>
struct Wide<4> {
  using type = u32;
};
template <>
struct Wide<8> {
  using type = u64;
};
template <>
struct Wide<16> {
  using type = u32 __attribute__((ext_vector_type(4)));
};

template <int N, class T>
XPU_FN Array<T, N> load_wide(global<const T> p, i32 word) {
  using Word = typename Wide<N*(int)sizeof(T)>::type;
  return bits_as<Array<T, N>>(((global<const Word>)p)[word]);
}

template <int N, class T>
XPU_FN void store_wide(global<T> p, i32 word, Array<T, N> values) {
  using Word = typename Wide<N*(int)sizeof(T)>::type;
  ((global<Word>)p)[word] = bits_as<Word>(values);
}

template <int N, class T>
XPU_FN void store_wide(T* p, i32 word, Array<T, N> values) {
  using Word = typename Wide<N*(int)sizeof(T)>::type;
  ((Word*)p)[word] = bits_as<Word>(values);
}

}  // namespace xpu

#endif

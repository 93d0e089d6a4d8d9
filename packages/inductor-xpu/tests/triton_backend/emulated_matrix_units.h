// Matrix units and block reads of Intel GPUs for devices without them. OpenCL's extensions say which lane has
// what: cl_intel_subgroup_matrix_multiply_accumulate and cl_intel_subgroup_local_block_io.
#include <xpu/backend.h>

namespace emulated {

struct F16 {
  static constexpr int bits = 16;
  XPU_FN static float of(u32 x) { return (float)bits_as<half>((u16)x); }
};
struct BF16 {
  static constexpr int bits = 16;
  XPU_FN static float of(u32 x) { return bits_as<float>(x << 16); }
};
struct I8 {
  static constexpr int bits = 8;
  XPU_FN static i32 of(u32 x) { return (i8)x; }
};

// A lane has a column of the right operand and of the sum. Lanes have neighboring columns of the left
// operand.
template <class T, class Sum>
XPU_FN Sum multiply(triton::Eight<triton::LeftWord> a, triton::Eight<i32> b, Sum c) {
  constexpr int columns = sizeof(triton::LeftWord) * 8 / T::bits, rows = 32 / T::bits;
  constexpr u32 mask = (1u << T::bits) - 1;
  _Pragma("clang loop unroll(disable)") for (int k = 0; k < columns * XPU_SUB_GROUP; ++k) {
    const auto y = T::of((u32)b[k / rows] >> (k % rows * T::bits) & mask);
    _Pragma("unroll") for (int row = 0; row < 8; ++row) {
      const u32 word = shuffle_word((u32)a[row], (u32)(k / columns));
      c[row] += T::of(word >> (k % columns * T::bits) & mask) * y;
    }
  }
  return c;
}

template <class T>
XPU_FN triton::Eight<T> read(triton::LocalPointer<T> words) {
  typedef const __attribute__((opencl_local)) T __attribute__((may_alias)) Any;
  triton::Eight<T> r;
  _Pragma("unroll") for (int i = 0; i < 8; ++i) r[i] = ((Any*)words)[i * XPU_SUB_GROUP + lane()];
  return r;
}

}  // namespace emulated

#define EMULATED __attribute__((sycl_device)) XPU_FN
EMULATED triton::Eight<u16> intel_sub_group_block_read_us8(triton::LocalPointer<u16> p) {
  return emulated::read(p);
}
EMULATED triton::Eight<u32> intel_sub_group_block_read8(triton::LocalPointer<u32> p) {
  return emulated::read(p);
}
#define EMULATED_PRODUCT(NAME, T, SUM)                                                      \
  EMULATED triton::Eight<SUM> NAME(triton::Eight<triton::LeftWord> a, triton::Eight<i32> b, \
                                   triton::Eight<SUM> c) {                                  \
    return emulated::multiply<emulated::T>(a, b, c);                                        \
  }
EMULATED_PRODUCT(intel_sub_group_bf16_bf16_matrix_mad_k16, BF16, float)
EMULATED_PRODUCT(intel_sub_group_f16_f16_matrix_mad_k16, F16, float)
EMULATED_PRODUCT(intel_sub_group_i8_i8_matrix_mad_k32, I8, i32)

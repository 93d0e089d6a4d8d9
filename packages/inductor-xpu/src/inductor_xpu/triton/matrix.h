// Matrix units of Intel GPUs: the functions of OpenCL's extension cl_intel_subgroup_matrix_multiply_accumulate, which the
// driver's compiler knows by these names, and fragments of matrices in local memory.

namespace triton {

template <class T> using Eight = T __attribute__((ext_vector_type(8)));
// What a lane has of a row of the left operand.
#if XPU_SUB_GROUP == 8
using LeftWord = int;
#else
using LeftWord = short;
#endif

// The bits of a number that is known to be one of its type.
XPU_FN u16 f16_bits(float x) { return bits_as<u16>((half)x); }
XPU_FN u16 bf16_bits(float x) { return (u16)(bits_as<u32>(x) >> 16); }

// A fragment is 8 words of each lane; neighboring lanes are neighbors.
template <class Word, class T> XPU_FN Eight<Word> fragment(const T* elements, i32 number) {
  typedef Word __attribute__((may_alias)) Any;
  auto words = (const Any*)elements + number * 8 * XPU_SUB_GROUP + lane();
  Eight<Word> r;
#pragma unroll
  for (i32 i = 0; i < 8; ++i) r[i] = words[i * XPU_SUB_GROUP];
  return r;
}

}  // namespace triton

#define TRITON_MATRIX_FUNCTION(NAME, SUM)                                                                \
  __attribute__((sycl_device)) __attribute__((convergent)) __attribute__((const)) extern triton::Eight<SUM> NAME( \
      triton::Eight<triton::LeftWord>, triton::Eight<int>, triton::Eight<SUM>);
TRITON_MATRIX_FUNCTION(intel_sub_group_bf16_bf16_matrix_mad_k16, float)
TRITON_MATRIX_FUNCTION(intel_sub_group_f16_f16_matrix_mad_k16, float)
TRITON_MATRIX_FUNCTION(intel_sub_group_i8_i8_matrix_mad_k32, int)
#undef TRITON_MATRIX_FUNCTION

// Matrix units of Intel GPUs. The functions declared here are those of two OpenCL extensions, which the
// driver's compiler knows: cl_intel_subgroup_matrix_multiply_accumulate, cl_intel_subgroup_local_block_io.

namespace triton {

template <class T>
using Eight = T __attribute__((ext_vector_type(8)));
template <class T>
using LocalPointer = const __attribute__((opencl_local)) T*;
// What a lane has of a row of the left operand.
#if XPU_SUB_GROUP == 8
using LeftWord = i32;
#else
using LeftWord = i16;
#endif

}  // namespace triton

#define XPU_GROUP_FUNCTION __attribute__((sycl_device)) __attribute__((convergent)) extern
XPU_GROUP_FUNCTION triton::Eight<u16> intel_sub_group_block_read_us8(triton::LocalPointer<u16>);
XPU_GROUP_FUNCTION triton::Eight<u32> intel_sub_group_block_read8(triton::LocalPointer<u32>);
#define XPU_MATRIX_FUNCTION(NAME, SUM)                                                            \
  XPU_GROUP_FUNCTION triton::Eight<SUM> NAME(triton::Eight<triton::LeftWord>, triton::Eight<i32>, \
                                             triton::Eight<SUM>);
XPU_MATRIX_FUNCTION(intel_sub_group_bf16_bf16_matrix_mad_k16, float)
XPU_MATRIX_FUNCTION(intel_sub_group_f16_f16_matrix_mad_k16, float)
XPU_MATRIX_FUNCTION(intel_sub_group_i8_i8_matrix_mad_k32, i32)
#undef XPU_MATRIX_FUNCTION
#undef XPU_GROUP_FUNCTION

namespace triton {

// The bits of a number of a type. Only constants can differ from those of the type, by less than half a step.
XPU_FN u16 f16_bits(float x) {
  return bits_as<u16>((half)x);
}
XPU_FN u16 bf16_bits(float x) {
  return (u16)((bits_as<u32>(x) + 0x8000u) >> 16);
}

// A fragment in local memory is 8 words of each lane; neighboring lanes are neighbors.
template <class Word, class T>
XPU_FN Eight<Word> fragment(const T* elements, i32 number) {
  const i32 first = number * 8 * XPU_SUB_GROUP;
  if constexpr (sizeof(Word) == 2) {
    return bits_as<Eight<Word>>(intel_sub_group_block_read_us8((LocalPointer<u16>)elements + first));
  } else {
    return bits_as<Eight<Word>>(intel_sub_group_block_read8((LocalPointer<u32>)elements + first));
  }
}

}  // namespace triton

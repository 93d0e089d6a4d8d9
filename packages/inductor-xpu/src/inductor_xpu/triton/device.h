// Functions that kernels of Triton call and the device library lacks.

namespace triton {

// Rounded towards zero. A number beyond the finite ones becomes the largest of them.
template <class T>
XPU_FN T toward_zero(float x) {
  using Bits = typename enable_if<sizeof(T) <= 2, Word<sizeof(T)>>::type;
  T r = to_sat<T>(x);
  float distance = __spirv_ocl_fabs((float)r) - __spirv_ocl_fabs(x);
  return distance > 0.0f ? bits_as<T>((Bits)(bits_as<Bits>(r) - 1)) : r;
}

}  // namespace triton

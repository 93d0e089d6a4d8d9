// The gamma function's family: its logarithm, and the derivatives of that.
//
// In float each is one polynomial or another by the argument's range, all of them evaluated and one
// selected. Where the function crosses zero at an irrational point on the negative axis the result
// keeps its absolute accuracy only.
#ifndef XPU_DEVICE_GAMMA_H
#define XPU_DEVICE_GAMMA_H
#include <xpu/exp.h>

namespace xpu {

// log(|Gamma(x)|) for x >= 0.5 given log(x).
XPU_FN float lgamma_positive(float x, float log_x) {
  float t = x - 1.0f, u = x - 2.0f, z = 1.0f / x;
  float one = t * poly(t, -0.577215672f, 0.822467029f, -0.400685161f, 0.270581245f, -0.207414657f,
      0.169557348f, -0.143369094f, 0.125237957f, -0.118787497f, 0.104678355f, -0.050397113f,
      0.0529129282f, -0.177896842f, 0.156970233f);
  float two = u * poly(u, 0.422784328f, 0.322467029f, -0.06735228f, 0.0205807351f, -0.00738615869f,
      0.00289173261f, -0.00118595932f, 0.000501516624f, -0.000253618637f, 0.000122364276f);
  float large = __spirv_ocl_fma(x - 0.5f, log_x - 1.0f, 0.418938533f + z * poly(z * z, 0.0833333358f,
      -0.00277773431f, 0.000791297294f, -0.000548910524f, 0.00042622551f));
  return select(x < 1.5f, one, select(x < 2.5f, two, large));
}

XPU_FN float lgamma(float x) {
  float a = __spirv_ocl_fabs(x), log_a = __spirv_ocl_log(a);
  // lgamma(x) = lgamma(1 + x) - log|x| around 0; pi / (|x sin(pi x)|) reflects what lies further left.
  float near = x * poly(x, -0.577215672f, 0.822467029f, -0.400685161f, 0.270581245f, -0.207414657f,
      0.169557348f, -0.143369094f, 0.125237957f, -0.118787497f, 0.104678355f, -0.050397113f,
      0.0529129282f, -0.177896842f, 0.156970233f) - log_a;
  float right = lgamma_positive(a, log_a);
  float sine = __spirv_ocl_fabs(__spirv_ocl_sinpi(x));
  float left = 1.14472989f - log_a - __spirv_ocl_log(sine) - right;
  float r = select(a < 0.5f, near, select(x < 0.0f, left, right));
  r = select(x < 0.0f && x == __spirv_ocl_floor(x), infinity(), r);
  return select(isinf(x), infinity(), r);
}
XPU_FN double lgamma(double x) { return __spirv_ocl_lgamma(x); }
XPU_NARROW1(lgamma)

XPU_MATH1(tgamma, return __spirv_ocl_tgamma(x);)

// pi / tan(pi x), infinite where x is an integer.
template <class T> XPU_FN T pi_cot_pi(T x) {
  return (T)3.14159265358979324 * __spirv_ocl_cospi(x) / __spirv_ocl_sinpi(x);
}

// The derivative of log Gamma. At zero it is infinite with the other sign, at negative integers NaN.
XPU_FN float digamma(float x) {
  float y = x < 0.0f ? 1.0f - x : x;
  // Between 1 and 2 it is the distance from its root, 1.46163213 + 1.24e-8, times a polynomial.
  bool low = y < 1.0f;
  float v = low ? y + 1.0f : y;
  float distance = (v - 1.46163213f) - 1.24381499e-8f;
  float middle = distance * poly(v - 1.5f, 0.951055884f, -0.423627406f, 0.240542665f, -0.148405164f,
      0.0949807316f, -0.0619141124f, 0.0408945382f, -0.0270895399f, 0.0169107467f, -0.0111455182f,
      0.0112303421f, -0.00762496702f);
  middle = select(low, middle - 1.0f / y, middle);
  float w = 1.0f / (v * v);
  float large = __spirv_ocl_log(v) - 0.5f / v - w * poly(w, 0.0833332092f, -0.00832676701f,
      0.00384785538f, -0.00308088074f, 0.00192424771f);
  float r = select(v < 2.0f, middle, large);
  r = select(x < 0.0f, r - pi_cot_pi(x), r);
  r = select(x < 0.0f && x == __spirv_ocl_floor(x), nan(), r);
  return select(x == 0.0f, __spirv_ocl_copysign(infinity(), -x), r);
}
XPU_FN double digamma(double x) {
  double y = x < 0.0 ? 1.0 - x : x, shift = 0.0;
  while (y < 10.0) {
    shift += 1.0 / y;
    y += 1.0;
  }
  double w = 1.0 / (y * y);
  double series = poly(w, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12);
  double r = __spirv_ocl_log(y) - 0.5 / y - w * series - shift;
  r = x < 0.0 ? r - pi_cot_pi(x) : r;
  r = x < 0.0 && x == __spirv_ocl_floor(x) ? (double)nan() : r;
  return x == 0.0 ? __spirv_ocl_copysign((double)infinity(), -x) : r;
}
XPU_NARROW1(digamma)

// The derivative of digamma: six (ten) steps up, then the asymptotic series.
template <class T> XPU_FN T trigamma_of(T x) {
  constexpr int kSteps = sizeof(T) == 8 ? 10 : 6;
  T y = x < (T)0 ? (T)1 - x : x, sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    sum += (T)1 / (y * y);
    y += (T)1;
  }
  T w = (T)1 / (y * y);
  T series = poly(w, (T)(1.0 / 6), (T)(-1.0 / 30), (T)(1.0 / 42), (T)(-1.0 / 30), (T)(5.0 / 66),
      (T)(-691.0 / 2730));
  T r = sum + (T)1 / y + w * ((T)0.5 + series / y);
  T sine = __spirv_ocl_sinpi(x);
  T reflected = (T)9.86960440108935862 / (sine * sine) - r;
  return select(x < (T)0, reflected, r);
}
XPU_MATH1(trigamma, return trigamma_of<T>(x);)

}  // namespace xpu

#endif

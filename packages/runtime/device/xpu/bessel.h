// Bessel functions of the first and second kind, orders 0 and 1, and the spherical one of order 0.
//
// Below 7 a polynomial in x^2 with the first zeros of j0 and j1 divided out, so that they come out
// exact; above, a slowly varying amplitude pair times the sine and cosine of x itself. Further zeros
// keep absolute accuracy.
#ifndef XPU_DEVICE_BESSEL_H
#define XPU_DEVICE_BESSEL_H
#include <xpu/exp.h>
#include <xpu/trig.h>

namespace xpu {

template <class T> struct Amplitudes {
  T p, q;
};

XPU_FN Amplitudes<float> amplitudes0(float x) {
  float w = 1.0f / (x * x);
  return {poly(w, 1.0f, -0.0703118593f, 0.111879319f, -0.53027463f, 3.08644986f),
          poly(w, -0.125f, 0.073239468f, -0.225937486f, 1.54284573f, -10.7616234f) / x};
}
XPU_FN Amplitudes<float> amplitudes1(float x) {
  float w = 1.0f / (x * x);
  return {poly(w, 1.0f, 0.117186777f, -0.143889815f, 0.62934345f, -3.55307269f),
          poly(w, 0.375f, -0.102536045f, 0.276277632f, -1.788692f, 12.2115908f) / x};
}
XPU_FN Amplitudes<double> amplitudes0(double x) {
  constexpr double kP[] = {
      1.9985974871139651, -0.00069604799886822477, 5.0966273617328623e-06, -1.0738925030810124e-07,
      4.1637937145730932e-09, -2.4265048290965697e-10, 1.8983042722988287e-11,
      -1.8581149745120516e-12, 2.1710112002464672e-13, -2.9292276048930582e-14,
      4.4547305715625327e-15, -7.4975401933816066e-16, 1.3768449804453526e-16};
  constexpr double kQ[] = {
      -0.24856871567021596, 0.00070562125252734303, -9.7121646985165669e-06, 2.9313551357614071e-07,
      -1.4497868096870924e-08, 1.0116406967574692e-09, -9.1126089237440538e-11,
      1.0004486070542542e-11, -1.2869443679365307e-12, 1.8856350131008027e-13,
      -3.0815334976484305e-14, 5.5273352328920963e-15, -1.0746015993976945e-15,
      2.2418370746510631e-16, -4.9778859301997734e-17, 1.1685587680600219e-17};
  double s = 98.0 / (x * x) - 1.0;
  return {chebyshev(s, kP), chebyshev(s, kQ) / x};
}
XPU_FN Amplitudes<double> amplitudes1(double x) {
  constexpr double kP[] = {
      2.0023496269185062, 0.0011680567602291442, -6.6229642087154266e-06, 1.286449968308721e-07,
      -4.7936245207572637e-09, 2.7286827804285024e-10, -2.1017884973603532e-11,
      2.034634159655152e-12, -2.3575523547283818e-13, 3.160283785289761e-14,
      -4.7809659349249659e-15, 8.0118090799001689e-16, -1.4659223635605416e-16};
  constexpr double kQ[] = {
      0.74798538241648282, -0.00099495221945410648, 1.1996164724530687e-05, -3.4271731447992901e-07,
      1.6450977990419236e-08, -1.1265802021819177e-09, 1.0017809106020562e-10,
      -1.0894815513252209e-11, 1.3913538183114417e-12, -2.0269196199233291e-13,
      3.2969062480848892e-14, -5.8905326110361722e-15, 1.1414102877360734e-15,
      -2.3743969010932136e-16, 5.2590531058528468e-17};
  double s = 98.0 / (x * x) - 1.0;
  return {chebyshev(s, kP), chebyshev(s, kQ) / x};
}

// sqrt(2 / (pi x)) (p cos(c) - q sin(c)) and (p sin(c) + q cos(c)) with c = x - pi/4 for order 0 and
// x - 3 pi/4 for order 1, in terms of sin(x) and cos(x): the shift costs no accuracy.
template <class T> XPU_FN T j_wave(T x, Amplitudes<T> a, bool order1) {
  T s = __spirv_ocl_sin(x), c = __spirv_ocl_cos(x);
  T cosine = order1 ? s - c : c + s, sine = order1 ? -(s + c) : s - c;
  return (T)0.56418958354775629 * __spirv_ocl_rsqrt(x) * (a.p * cosine - a.q * sine);
}
template <class T> XPU_FN T y_wave(T x, Amplitudes<T> a, bool order1) {
  T s = __spirv_ocl_sin(x), c = __spirv_ocl_cos(x);
  T cosine = order1 ? s - c : c + s, sine = order1 ? -(s + c) : s - c;
  return (T)0.56418958354775629 * __spirv_ocl_rsqrt(x) * (a.p * sine + a.q * cosine);
}

// x^2 minus the square of the zero high + low.
template <class T> XPU_FN T from_zero(T x, T high, T low) { return ((x - high) - low) * (x + high); }

// x^2 from [0, 49] to [-1, 1], where polynomials of this degree do not cancel.
XPU_FN float centered(float x) { return __spirv_ocl_fma(x * x, 2.0f / 49.0f, -1.0f); }
XPU_FN double centered(double x) { return __spirv_ocl_fma(x * x, 2.0 / 49.0, -1.0); }

XPU_FN float j0_near(float x) {
  float zeros = from_zero(x, 2.40482545f, 1.08705905e-7f) * from_zero(x, 5.52007818f, -7.19341483e-8f);
  return zeros * poly(centered(x), 0.0017350089f, -0.00227215514f, 0.00121629774f, -0.000367661996f,
      7.23603225e-05f, -1.00711613e-05f, 1.04749006e-06f, -8.51774686e-08f, 5.30965849e-09f);
}
XPU_FN float j1_near(float x) {
  return x * from_zero(x, 3.83170605f, -7.68505932e-8f) * poly(centered(x), -0.00661612675f,
      0.013250879f, -0.00954541191f, 0.00362571818f, -0.000859145075f, 0.000139822703f,
      -1.66405189e-05f, 1.51472182e-06f, -1.09368557e-07f, 5.96703131e-09f);
}
XPU_FN double j0_near(double x) {
  constexpr double kSeries[] = {
      0.0047412435027808977, -0.0025542427003929858, 0.00064482237211502475,
      -9.5090688486267549e-05, 9.2426066672805788e-06, -6.387639723260289e-07,
      3.3066234582700098e-08, -1.3317748174101174e-09, 4.2960702185545359e-11,
      -1.1356438974508103e-12, 2.5060493571088086e-14, -4.687784355084303e-16,
      7.5296263953173541e-18};
  double zeros = from_zero(x, 2.404825557695773, -1.176691651530894e-16) * from_zero(x,
      5.520078110286311, 8.088597146146722e-17);
  return zeros * chebyshev(centered(x), kSeries);
}
XPU_FN double j1_near(double x) {
  constexpr double kSeries[] = {
      -0.023432484182874375, 0.016058387810915904, -0.0052101266964646887, 0.00095062311590566294,
      -0.00011053715563773714, 8.9054308036873557e-06, -5.2685207372546443e-07,
      2.3878282987101139e-08, -8.5615203801430483e-10, 2.4903792940462604e-11,
      -5.9971088141598247e-13, 1.2156486419722814e-14, -2.1033421661562607e-16,
      3.1432611778469218e-18};
  double zero = from_zero(x, 3.8317059702075125, -1.5269184090088067e-16);
  return x * zero * chebyshev(centered(x), kSeries);
}

XPU_MATH1(
    j0, T a = __spirv_ocl_fabs(x); T far = j_wave(a, amplitudes0(a), false);
    far = select(isinf(x), (T)0, far); return select(a < (T)7, j0_near(min_of(a, (T)7)), far);)
XPU_MATH1(
    j1, T a = __spirv_ocl_fabs(x); T far = j_wave(a, amplitudes1(a), true);
    far = select(isinf(x), (T)0, far); T r = select(a < (T)7, j1_near(min_of(a, (T)7)), far);
    return r * __spirv_ocl_copysign((T)1, x);)

XPU_FN float y0_near(float x) {
  return poly(centered(x), -0.103228875f, -1.15620279f, 0.640951991f, 0.711399674f, -0.71062535f,
      0.273325056f, -0.0617856495f, 0.00944482628f, -0.00105285842f, 9.07553767e-05f,
      -6.12228405e-06f) + 0.636619772f * __spirv_ocl_log(x) * j0_near(x);
}
XPU_FN float y1_near(float x) {
  return x * poly(centered(x), 0.125407025f, -0.156344905f, -0.127613232f, 0.209936187f, -0.105233788f,
      0.0290531591f, -0.00523222191f, 0.000670594454f, -6.46522822e-05f, 4.90739194e-06f,
      -2.90453983e-07f) + 0.636619772f * __spirv_ocl_log(x) * j1_near(x) - 0.636619772f / x;
}
XPU_FN double y0_near(double x) {
  constexpr double kSeries[] = {
      -0.13766958264858764, -0.44661513983551632, -0.06426183346900638, 0.26639285606025004,
      -0.10064472623517014, 0.018128606701895714, -0.0019971432938461443, 0.00015076602889492244,
      -8.3450320280777613e-06, 3.5451321019917224e-07, -1.1950113304130804e-08,
      3.2787686842080853e-10, -7.4717706952424051e-12, 1.4376675223922353e-13,
      -2.3678916652330204e-15, 3.3772579401881362e-17};
  return chebyshev(centered(x), kSeries) + 0.63661977236758134 * __spirv_ocl_log(x) * j0_near(x);
}
XPU_FN double y1_near(double x) {
  constexpr double kSeries[] = {
      0.040969857191884528, 0.019634603925609957, -0.11890451690343967, 0.061784809153468553,
      -0.014149476036855686, 0.0018898588547431234, -0.00016757323998763918, 1.0650572825292794e-05,
      -5.1077933799640112e-07, 1.9181068164066262e-08, -5.8009326661382501e-10,
      1.4444910454038402e-11, -3.0150635659701848e-13, 5.3538962333407111e-15,
      -8.1892546018778714e-17};
  return x * chebyshev(centered(x), kSeries) + 0.63661977236758134 * __spirv_ocl_log(x) * j1_near(x) -
      0.63661977236758134 / x;
}

// Minus infinity at 0, NaN below.
template <class T> XPU_FN T y_domain(T x, T r) {
  r = select(x == (T)0, -(T)infinity(), r);
  r = select(x == (T)infinity(), (T)0, r);
  return select(x < (T)0, (T)nan(), r);
}
XPU_MATH1(y0, T far = y_wave(x, amplitudes0(x), false); return y_domain(x, select(x < (T)7,
    y0_near(min_of(x, (T)7)), far));)
XPU_MATH1(y1, T far = y_wave(x, amplitudes1(x), true); return y_domain(x, select(x < (T)7,
    y1_near(min_of(x, (T)7)), far));)

XPU_MATH1(
    spherical_j0, T r = __spirv_ocl_sin(x) / x; r = select(isinf(x), (T)0, r);
    return select(x == (T)0, (T)1, r);)

}  // namespace xpu

#endif

// Roots of unity and small Fourier transforms in registers.
#ifndef XPU_DEVICE_FFT_H
#define XPU_DEVICE_FFT_H
#include <xpu/complex.h>
#include <xpu/unrolled.h>

namespace xpu {

// exp(-i r) for 0 <= r <= pi / 4; `rest` is what r lacks.
template <class T> XPU_FN Complex<T> small_root(T r, T rest) {
  T s = r * r, sine, cosine;
  if constexpr (sizeof(T) == 4) {
    sine = (T)2.75573192e-6f;
    sine = sine * s - (T)1.98412698e-4f;
    sine = sine * s + (T)8.33333333e-3f;
    sine = sine * s - (T)1.66666667e-1f;
    cosine = (T)-2.75573192e-7f;
    cosine = cosine * s + (T)2.48015873e-5f;
    cosine = cosine * s - (T)1.38888889e-3f;
    cosine = cosine * s + (T)4.16666667e-2f;
    cosine = cosine * s - (T)0.5f;
  } else {
    sine = (T)2.8114572543455208e-15;
    sine = sine * s - (T)7.6471637318198165e-13;
    sine = sine * s + (T)1.6059043836821615e-10;
    sine = sine * s - (T)2.5052108385441719e-8;
    sine = sine * s + (T)2.7557319223985891e-6;
    sine = sine * s - (T)1.9841269841269841e-4;
    sine = sine * s + (T)8.3333333333333333e-3;
    sine = sine * s - (T)1.6666666666666667e-1;
    cosine = (T)-1.5619206968586226e-16;
    cosine = cosine * s + (T)4.7794773323873853e-14;
    cosine = cosine * s - (T)1.1470745597729725e-11;
    cosine = cosine * s + (T)2.0876756987868099e-9;
    cosine = cosine * s - (T)2.7557319223985891e-7;
    cosine = cosine * s + (T)2.4801587301587302e-5;
    cosine = cosine * s - (T)1.3888888888888889e-3;
    cosine = cosine * s + (T)4.1666666666666667e-2;
    cosine = cosine * s - (T)0.5;
  }
  sine = sine * s * r + r;
  cosine = cosine * s + (T)1;
  return {cosine - rest * sine, -(sine + rest * cosine)};
}

// The n-th roots of unity: pi / (4 n) in two parts.
template <class T> struct Roots {
  T high, low;
};

// exp(-2 pi i m / n) for 0 <= m < n, to the last place: the angle is brought to an eighth of a turn as an integer.
template <class T, class Count> XPU_FN Complex<T> root(Roots<T> roots, Count m, Count n) {
  Count a = 8 * m;
  bool mirrored = a > 4 * n;
  a = mirrored ? 8 * n - a : a;
  bool left = a > 2 * n;
  a = left ? 4 * n - a : a;
  bool steep = a > n;
  a = steep ? 2 * n - a : a;
  T x = (T)a, r = x * roots.high;
  Complex<T> z = small_root(r, __spirv_ocl_fma(x, roots.high, -r) + x * roots.low);
  T re = steep ? -z.im : z.re, im = steep ? -z.re : z.im;
  return {left ? -re : re, mirrored ? -im : im};
}

// Times -i.
template <class T> XPU_FN Complex<T> times_minus_i(Complex<T> z) { return {z.im, -z.re}; }

template <class T> XPU_FN void small_transform(Array<Complex<T>, 2>& x) {
  Complex<T> a = x[0], b = x[1];
  x[0] = a + b;
  x[1] = a - b;
}

template <class T> XPU_FN void small_transform(Array<Complex<T>, 4>& x) {
  Complex<T> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = times_minus_i(x[1] - x[3]);
  x[0] = a + c;
  x[1] = b + d;
  x[2] = a - c;
  x[3] = b - d;
}

template <class T> XPU_FN void small_transform(Array<Complex<T>, 8>& x) {
  Array<Complex<T>, 4> even = {{x[0], x[2], x[4], x[6]}}, odd = {{x[1], x[3], x[5], x[7]}};
  small_transform(even);
  small_transform(odd);
  constexpr T h = (T)(sizeof(T) == 4 ? 0.707106781f : 0.70710678118654752);
  Complex<T> one = odd[1], three = odd[3];
  odd[1] = {h * (one.re + one.im), h * (one.im - one.re)};
  odd[2] = times_minus_i(odd[2]);
  odd[3] = {h * (three.im - three.re), -h * (three.re + three.im)};
  unrolled<4>([&](auto k) XPU_INLINE {
    x[k] = even[k] + odd[k];
    x[k + 4] = even[k] - odd[k];
  });
}

// By the root exp(-i r) of which cosine and sine are given.
template <class T> XPU_FN Complex<T> rotated(Complex<T> z, T cosine, T sine) {
  return {z.re * cosine + z.im * sine, z.im * cosine - z.re * sine};
}

template <class T> XPU_FN void small_transform(Array<Complex<T>, 16>& x) {
  constexpr T c = (T)0.92387953251128676, s = (T)0.38268343236508977, h = (T)0.70710678118654752;
  Array<Array<Complex<T>, 4>, 4> y;
  unrolled<4>([&](auto a) XPU_INLINE {
    y[a] = {{x[a], x[a + 4], x[a + 8], x[a + 12]}};
    small_transform(y[a]);
  });
  y[1][1] = rotated(y[1][1], c, s);
  y[1][2] = rotated(y[1][2], h, h);
  y[1][3] = rotated(y[1][3], s, c);
  y[2][1] = rotated(y[2][1], h, h);
  y[2][2] = times_minus_i(y[2][2]);
  y[2][3] = rotated(y[2][3], -h, h);
  y[3][1] = rotated(y[3][1], s, c);
  y[3][2] = rotated(y[3][2], -h, h);
  y[3][3] = rotated(y[3][3], -c, -s);
  unrolled<4>([&](auto k) XPU_INLINE {
    Array<Complex<T>, 4> part = {{y[0][k], y[1][k], y[2][k], y[3][k]}};
    small_transform(part);
    unrolled<4>([&](auto q) XPU_INLINE { x[k + 4 * q] = part[q]; });
  });
}

// Odd sizes: sums and differences of the elements a and N - a, once for each pair of results. The tables have cosine
// and sine of 2 pi k / N for k from 1 to (N - 1) / 2.
template <class T, int N> struct Turns {
  T cosine[N / 2], sine[N / 2];
};
template <class T> constexpr Turns<T, 3> turns3 = {{(T)-0.5}, {(T)0.86602540378443865}};
template <class T>
constexpr Turns<T, 5> turns5 = {{(T)0.30901699437494742, (T)-0.80901699437494742},
                                {(T)0.95105651629515357, (T)0.58778525229247313}};
template <class T>
constexpr Turns<T, 7> turns7 = {{(T)0.62348980185873353, (T)-0.22252093395631440, (T)-0.90096886790241913},
                                {(T)0.78183148246802981, (T)0.97492791218182361, (T)0.43388373911755812}};

template <class T, int N> XPU_FN void odd_transform(Array<Complex<T>, N>& x, const Turns<T, N>& turns) {
  constexpr int H = N / 2;
  Array<Complex<T>, H> sum, difference;
  Complex<T> first = x[0];
  unrolled<H>([&](auto a) XPU_INLINE {
    sum[a] = x[a + 1] + x[N - 1 - a];
    difference[a] = times_minus_i(x[a + 1] - x[N - 1 - a]);
    x[0] += sum[a];
  });
  unrolled<H>([&](auto i) XPU_INLINE {
    Complex<T> even = first, odd = Complex<T>(0);
    unrolled<H>([&](auto a) XPU_INLINE {
      constexpr int turn = (decltype(a)() + 1) * (decltype(i)() + 1) % N, near = turn > H ? N - turn : turn;
      even += sum[a] * turns.cosine[near - 1];
      odd += difference[a] * (turn > H ? -turns.sine[near - 1] : turns.sine[near - 1]);
    });
    x[i + 1] = even + odd;
    x[N - 1 - i] = even - odd;
  });
}

template <class T> XPU_FN void small_transform(Array<Complex<T>, 3>& x) { odd_transform<T, 3>(x, turns3<T>); }
template <class T> XPU_FN void small_transform(Array<Complex<T>, 5>& x) { odd_transform<T, 5>(x, turns5<T>); }
template <class T> XPU_FN void small_transform(Array<Complex<T>, 7>& x) { odd_transform<T, 7>(x, turns7<T>); }

}  // namespace xpu

#endif

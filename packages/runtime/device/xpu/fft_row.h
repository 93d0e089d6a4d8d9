// Fourier transforms of single lines by a sub-group of a CPU, whose lanes compute neighboring elements: an element and
// its neighbors are one vector register, and buffers and tables stay in a core's caches.
//
// A buffer holds vectors of a sub-group's elements, the real parts before the imaginary ones. Passes go to and fro
// between two buffers (Stockham's order). The radix of the first pass is a multiple of the sub-group, so the elements
// that later passes read and write together are neighbors.
//
// The host puts in front: T; FIRST, the radix of the first pass (8 or 16); ODD, 1 where lengths have the factors 3, 5
// and 7. Kernels with more radices than needed exceed what the CPU driver's compiler treats as one vector program.
#ifndef XPU_DEVICE_FFT_ROW_H
#define XPU_DEVICE_FFT_ROW_H
#include <xpu/fft.h>
#include <xpu/group.h>
#include <xpu/transpose.h>

using xpu::i32;
using xpu::i64;
using xpu::u32;
using xpu::u64;
using Z = xpu::Complex<T>;
using Memory = xpu::global<T>;
using Source = xpu::global<const T>;

constexpr i32 W = XPU_SUB_GROUP;

// Elements i to i + W - 1 of a buffer; i is a multiple of W.
XPU_FN Z get(Memory buffer, i64 i) { return {buffer[2 * i + xpu::lane()], buffer[2 * i + W + xpu::lane()]}; }
XPU_FN void put(Memory buffer, i64 i, Z z) {
  buffer[2 * i + xpu::lane()] = z.re;
  buffer[2 * i + W + xpu::lane()] = z.im;
}

// Complex numbers in memory, whose parts are neighbors, cost one shuffle to load and to store if lane l has element
// shuffled(l) of the vector.
XPU_FN constexpr i32 shuffled(i32 l) { return l / 2 + l % 2 * (W / 2); }
XPU_FN Z load(Source p) {
  i32 me = xpu::lane();
  T a = p[me], b = p[W + me], other = xpu::shuffle(me & 1 ? a : b, me ^ 1);
  return {me & 1 ? other : a, me & 1 ? b : other};
}
// Lane l has element l.
XPU_FN Z load_in_order(Source p) {
  Z z = load(p);
  i32 from = (2 * xpu::lane() & (W - 1)) + 2 * xpu::lane() / W;
  return {xpu::shuffle(z.re, from), xpu::shuffle(z.im, from)};
}
XPU_FN void store(Memory p, Z z) {
  i32 me = xpu::lane();
  T other = xpu::shuffle(me & 1 ? z.re : z.im, me ^ 1);
  p[me] = me & 1 ? other : z.re;
  p[W + me] = me & 1 ? z.im : other;
}

XPU_FN Z exchanged(Z z, i32 how) { return {how ? z.im : z.re, how ? z.re : z.im}; }
XPU_FN Z conjugate(Z z) { return {z.re, -z.im}; }

// From n complex numbers in memory. The last vector repeats elements of the one before where n is no multiple.
XPU_FN void first_pass(Source from, Memory to, i64 n, i32 swap) {
  constexpr i32 R = FIRST;
  i64 count = n / R;
  for (i64 begin = 0; begin < count; begin += W) {
    i64 i = xpu::min_of(begin, count - W);
    xpu::Array<Z, R> x;
    xpu::unrolled<R>([&](auto q) XPU_INLINE { x[q] = exchanged(load(from + 2 * (i + q * count)), swap); });
    xpu::small_transform(x);
    xpu::unrolled<R / W>([&](auto part) XPU_INLINE {
      xpu::Array<T, W> re, im;
      xpu::unrolled<W>([&](auto q) XPU_INLINE {
        re[q] = x[part * W + q].re;
        im[q] = x[part * W + q].im;
      });
      xpu::transpose_lanes(re);
      xpu::transpose_lanes(im);
      xpu::unrolled<W>([&](auto l) XPU_INLINE { put(to, (i + shuffled(l)) * R + part * W, Z{re[l], im[l]}); });
    });
  }
}

template <int R> XPU_FN void pass(Memory from, Memory to, Memory roots, i64 n, i64 done) {
  i64 count = n / R;
  for (i64 i = 0, skipped = 0; i < count; skipped += done * (R - 1))
    for (i64 k = 0; k < done; k += W, i += W) {
      xpu::Array<Z, R> x;
      x[0] = get(from, i);
      xpu::unrolled<R - 1>([&](auto q) XPU_INLINE {
        x[q + 1] = get(from, i + (q + 1) * count) * get(roots, k + q * done);
      });
      xpu::small_transform(x);
      xpu::unrolled<R>([&](auto q) XPU_INLINE { put(to, skipped + i + q * done, x[q]); });
    }
}

// The table of the passes after the first one: fewer than n elements.
XPU_FN void make_roots(Memory roots, i32 n, u64 radices, xpu::Roots<T> own) {
  i32 done = FIRST;
  i64 at = 0;
  for (u64 rest = radices >> 6; rest; rest >>= 6) {
    i32 radix = (i32)(rest & 63), step = n / (radix * done);
    for (i32 q = 1; q < radix; ++q)
      for (i32 k = 0; k < done; k += W, at += W)
        put(roots, at, xpu::root(own, (u32)(q * (k + xpu::lane()) * step), (u32)n));
    done *= radix;
  }
}

// The forward transform of n complex numbers at `from`, which may be in `b`; `radices` has 6 bits for each pass, that
// of FIRST lowest. Returns the one of `a` and `b` that has the result. Ends with a barrier.
XPU_FN Memory transform(Source from, Memory a, Memory b, Memory roots, i64 n, u64 radices, i32 swap) {
  i64 done = FIRST;
  first_pass(from, a, n, swap);
  xpu::sub_group_barrier();
  for (u64 rest = radices >> 6; rest; rest >>= 6) {
    i64 radix = (i64)(rest & 63);
    switch (radix) {
#if ODD
      case 3: pass<3>(a, b, roots, n, done); break;
      case 5: pass<5>(a, b, roots, n, done); break;
      case 7: pass<7>(a, b, roots, n, done); break;
#endif
      case 4: pass<4>(a, b, roots, n, done); break;
      default: pass<8>(a, b, roots, n, done);
    }
    xpu::sub_group_barrier();
    roots += 2 * (radix - 1) * done;
    done *= radix;
    Memory result = b;
    b = a;
    a = result;
  }
  return a;
}

#endif

// Fourier transforms of LINES lines at once in the memory of a work-group: elements lie there as [element][line], real
// and imaginary parts apart, and go to and fro between two buffers, one pass for each factor of the length (Stockham's
// order: no reversal of digits). The inverse is the forward transform of numbers with their parts exchanged.
//
// The host puts in front: T, LINES, GROUP (items; a multiple of LINES) and LOCAL (1: local memory is used; 0: each group
// has its part of a parameter).
#ifndef XPU_DEVICE_FFT_PASS_H
#define XPU_DEVICE_FFT_PASS_H
#include <xpu/fft.h>
#include <xpu/local.h>

using xpu::i32;
using xpu::i64;
using xpu::u32;
using xpu::u64;
using Z = xpu::Complex<T>;

#if LOCAL
using Memory = T*;
#else
using Memory = xpu::global<T>;
#endif

// A buffer, or the roots: `size` real parts, then as many imaginary ones.
struct Parts {
  Memory data;
  i32 size;
  XPU_FN Z get(i32 i) const { return {data[i], data[i + size]}; }
  XPU_FN void put(i32 i, Z z) const {
    data[i] = z.re;
    data[i + size] = z.im;
  }
};

XPU_FN Z exchanged(Z z, i32 how) { return {how ? z.im : z.re, how ? z.re : z.im}; }
XPU_FN Z conjugate(Z z) { return {z.re, -z.im}; }

// The line of an item where the lines of a block are told apart by the item.
XPU_FN i32 own_line() { return GROUP == LINES ? xpu::local_id() : xpu::local_id() % LINES; }
XPU_FN i32 own_first() { return GROUP == LINES ? 0 : xpu::local_id() / LINES; }
constexpr i32 kApart = GROUP / LINES;

template <int R> XPU_FN void pass(Parts from, Parts to, Parts roots, i32 n, i32 done) {
  i32 line = own_line(), count = n / R, step = count / done, apart = kApart % done, k = own_first() % done;
  for (i32 i = own_first(); i < count; i += kApart) {
    xpu::Array<Z, R> x;
    x[0] = from.get(i * LINES + line);
    xpu::unrolled<R - 1>([&](auto q) XPU_INLINE {
      x[q + 1] = from.get((i + (q + 1) * count) * LINES + line) * roots.get((q + 1) * k * step);
    });
    small_transform(x);
    i32 at = (i - k) * R + k;
    xpu::unrolled<R>([&](auto q) XPU_INLINE { to.put((at + q * done) * LINES + line, x[q]); });
    k += apart;
    k = k >= done ? k - done : k;
  }
}

// Any factor, by its sum.
XPU_FN void any_pass(Parts from, Parts to, Parts roots, i32 n, i32 done, i32 radix) {
  i32 line = own_line(), count = n / radix, step = count / done;
  for (i32 i = own_first(); i < count; i += kApart) {
    i32 k = i % done, at = (i - k) * radix + k;
    for (i32 q = 0; q < radix; ++q) {
      Z sum = from.get(i * LINES + line);
      i32 turn = k * step + q * count, power = 0;
      for (i32 s = 1; s < radix; ++s) {
        power += turn;
        power = power >= n ? power - n : power;
        sum += from.get((i + s * count) * LINES + line) * roots.get(power);
      }
      to.put((at + q * done) * LINES + line, sum);
    }
  }
}

// The forward transforms of what is in `from`; `radices` has 6 bits for each pass, the first one lowest. Ends with a
// barrier.
XPU_FN Parts transform(Parts from, Parts to, Parts roots, i32 n, u64 radices) {
  i32 done = 1;
  for (; radices; radices >>= 6) {
    i32 radix = (i32)(radices & 63);
    switch (radix) {
      case 2: pass<2>(from, to, roots, n, done); break;
      case 3: pass<3>(from, to, roots, n, done); break;
      case 4: pass<4>(from, to, roots, n, done); break;
      case 5: pass<5>(from, to, roots, n, done); break;
      case 7: pass<7>(from, to, roots, n, done); break;
      case 8: pass<8>(from, to, roots, n, done); break;
      default: any_pass(from, to, roots, n, done, radix);
    }
    xpu::barrier();
    done *= radix;
    Parts spare = from;
    from = to;
    to = spare;
  }
  return from;
}

#endif

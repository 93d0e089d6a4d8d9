// Relaxed atomics on global or local memory: order comes from barriers and from kernel boundaries.
//
// Integers and float addition use the hardware; min and max of floats propagate NaN (as PyTorch's
// amax and amin do), which no hardware does, so they and the 16-bit floats loop on compare-exchange.
// P is a pointer, in any address space, to T.
#ifndef XPU_DEVICE_ATOMIC_H
#define XPU_DEVICE_ATOMIC_H
#include <xpu/backend.h>
#include <xpu/convert.h>

namespace xpu {

enum : int { kRelaxed = 0 };

template <class P> struct Pointee;
template <class T> struct Pointee<T*> { using type = T; };
template <class T> struct Pointee<__attribute__((opencl_global)) T*> { using type = T; };
template <class T> struct Pointee<__attribute__((opencl_local)) T*> { using type = T; };
template <class P> using pointee = typename Pointee<P>::type;

// The pointer type P made to point at U, in the same address space.
template <class P, class U> struct Repoint;
template <class T, class U> struct Repoint<T*, U> { using type = U*; };
template <class T, class U> struct Repoint<__attribute__((opencl_global)) T*, U> {
  using type = __attribute__((opencl_global)) U*;
};
template <class T, class U> struct Repoint<__attribute__((opencl_local)) T*, U> {
  using type = __attribute__((opencl_local)) U*;
};
template <class P, class U> using repoint = typename Repoint<P, U>::type;

template <int BYTES> struct Word;
template <> struct Word<1> { using type = u8; };
template <> struct Word<2> { using type = u16; };
template <> struct Word<4> { using type = u32; };
template <> struct Word<8> { using type = u64; };

// Replaces *p by f(*p) and returns what was there.
template <class P, class F> XPU_FN pointee<P> atomic_update(P p, F f) {
  using T = pointee<P>;
  using Bits = typename Word<sizeof(T)>::type;
  if constexpr (sizeof(T) < 4) {
    // The 32-bit word around it; an aligned word never leaves the allocation, whose size is rounded up.
    constexpr u32 mask = (Bits)-1;
    u64 address = (u64)p;
    auto word = (repoint<P, u32>)(address & ~(u64)3);
    u32 shift = (u32)(address & 3) * 8;
    u32 old = __spirv_AtomicLoad(word, kDevice, kRelaxed);
    for (;;) {
      T value = bits_as<T>((Bits)(old >> shift));
      u32 next = (old & ~(mask << shift)) | ((u32)bits_as<Bits>(f(value)) << shift);
      u32 seen = compare_exchange(word, old, next);
      if (seen == old) return value;
      old = seen;
    }
  } else {
    auto word = (repoint<P, Bits>)p;
    Bits old = __spirv_AtomicLoad(word, kDevice, kRelaxed);
    for (;;) {
      Bits next = bits_as<Bits>(f(bits_as<T>(old)));
      Bits seen = compare_exchange(word, old, next);
      if (seen == old) return bits_as<T>(old);
      old = seen;
    }
  }
}

template <class P> XPU_FN pointee<P> atomic_add(P p, pointee<P> v) {
  using T = pointee<P>;
  if constexpr (is_narrow<T>) return atomic_update(p, [v](T x) { return to<T>((float)x + (float)v); });
  else if constexpr (is_float<T>) return __spirv_AtomicFAddEXT(p, kDevice, kRelaxed, v);
  else if constexpr (sizeof(T) < 4) return atomic_update(p, [v](T x) { return (T)(x + v); });
  else return __spirv_AtomicIAdd(p, kDevice, kRelaxed, v);
}

template <class P> XPU_FN pointee<P> atomic_mul(P p, pointee<P> v) {
  using T = pointee<P>;
  return atomic_update(p, [v](T x) { return to<T>((opmath<T>)x * (opmath<T>)v); });
}

template <class P> XPU_FN pointee<P> atomic_min(P p, pointee<P> v) {
  using T = pointee<P>;
  if constexpr (is_float<T>) return atomic_update(p, [v](T x) { return x < v || x != x ? x : v; });
  else if constexpr (sizeof(T) < 4) return atomic_update(p, [v](T x) { return x < v ? x : v; });
  else if constexpr (is_signed<T>) return __spirv_AtomicSMin(p, kDevice, kRelaxed, v);
  else return __spirv_AtomicUMin(p, kDevice, kRelaxed, v);
}

template <class P> XPU_FN pointee<P> atomic_max(P p, pointee<P> v) {
  using T = pointee<P>;
  if constexpr (is_float<T>) return atomic_update(p, [v](T x) { return x > v || x != x ? x : v; });
  else if constexpr (sizeof(T) < 4) return atomic_update(p, [v](T x) { return x > v ? x : v; });
  else if constexpr (is_signed<T>) return __spirv_AtomicSMax(p, kDevice, kRelaxed, v);
  else return __spirv_AtomicUMax(p, kDevice, kRelaxed, v);
}

template <class P> XPU_FN pointee<P> atomic_and(P p, pointee<P> v) {
  return __spirv_AtomicAnd(p, kDevice, kRelaxed, v);
}
template <class P> XPU_FN pointee<P> atomic_or(P p, pointee<P> v) {
  return __spirv_AtomicOr(p, kDevice, kRelaxed, v);
}
template <class P> XPU_FN pointee<P> atomic_xor(P p, pointee<P> v) {
  return __spirv_AtomicXor(p, kDevice, kRelaxed, v);
}
template <class P> XPU_FN pointee<P> atomic_load(P p) { return __spirv_AtomicLoad(p, kDevice, kRelaxed); }
template <class P> XPU_FN void atomic_store(P p, pointee<P> v) {
  __spirv_AtomicStore(p, kDevice, kRelaxed, v);
}
template <class P> XPU_FN pointee<P> atomic_exchange(P p, pointee<P> v) {
  return __spirv_AtomicExchange(p, kDevice, kRelaxed, v);
}
// Stores `desired` if *p is `expected`; returns what was there.
template <class P> XPU_FN pointee<P> atomic_cas(P p, pointee<P> expected, pointee<P> desired) {
  using T = pointee<P>;
  using Bits = typename Word<sizeof(T)>::type;
  auto word = (repoint<P, Bits>)p;
  return bits_as<T>(compare_exchange(word, bits_as<Bits>(expected), bits_as<Bits>(desired)));
}

}  // namespace xpu

#endif

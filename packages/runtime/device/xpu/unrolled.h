// Loops that the compiler's front end unrolls.
#ifndef XPU_DEVICE_UNROLLED_H
#define XPU_DEVICE_UNROLLED_H
#include <xpu/core.h>

#define XPU_INLINE __attribute__((always_inline))

namespace xpu {

// f(Index<0>()) to f(Index<N - 1>()): arrays stay in registers where a compiler that does not unroll early puts them in
// memory.
template <int I> struct Index {
  constexpr operator int() const { return I; }
};
template <int N, int I = 0, class F> XPU_FN void unrolled(const F& f) {
  if constexpr (I < N) {
    f(Index<I>());
    unrolled<N, I + 1>(f);
  }
}

}  // namespace xpu

#endif

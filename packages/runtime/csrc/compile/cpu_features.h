// Features of this machine's CPU, as far as compilers use them: for native code that others made or will run.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "xpu/abi.h"

namespace xpu::cpu_features {

// What compilers emit unasked for the targets of the images that ship, in GCC's names. The targets have more
// features, such as rdrnd and clwb, which only source code asks for.
#define XPU_FEATURES_OF_CORE_AVX2(DO) \
  DO("cmov")                          \
  DO("cmpxchg16b")                    \
  DO("lahf_lm")                       \
  DO("popcnt")                        \
  DO("sse3")                          \
  DO("ssse3")                         \
  DO("sse4.1")                        \
  DO("sse4.2") DO("avx") DO("f16c") DO("fma") DO("avx2") DO("bmi") DO("bmi2") DO("lzcnt") DO("movbe")
#define XPU_FEATURES_OF_SKX(DO) DO("avx512f") DO("avx512cd") DO("avx512bw") DO("avx512dq") DO("avx512vl")

#define XPU_LISTED(name) name,
inline constexpr auto of_core_avx2 = std::to_array<std::string_view>({XPU_FEATURES_OF_CORE_AVX2(XPU_LISTED)});
inline constexpr auto of_skx = std::to_array<std::string_view>({XPU_FEATURES_OF_SKX(XPU_LISTED)});
#undef XPU_LISTED

/// Returns the bytes of the vector registers in the best images for a CPU: 64 (skx), 32 (core-avx2), or 0 if
/// it runs none. `has` tells whether the CPU has one of the features above.
template <class Has>
int vector_bytes(Has has) {
  if (!std::ranges::all_of(of_core_avx2, has)) return 0;
  return std::ranges::all_of(of_skx, has) ? 64 : 32;
}

/// True if this machine's CPU has one of the features above and the system saves its registers.
XPU_API bool has(std::string_view name);

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};
/// Returns 16 digits that differ for CPUs for which compilers may emit different instructions. `cpuid`
/// returns zeros for what the CPU does not know, `saved` are the registers that the system saves (XCR0).
XPU_API std::string digits_of(const std::function<Registers(unsigned leaf, unsigned subleaf)>& cpuid,
                              unsigned saved);

}  // namespace xpu::cpu_features

namespace xpu {

/// Returns vector_bytes() of this machine.
int machine_vector_bytes();
/// Returns digits_of() this machine. A name, such as a hypervisor's, may belong to CPUs that differ.
XPU_API const std::string& cpu_feature_digits();

}  // namespace xpu

#include "compile/cpu_features.h"

#include "compile/sha256.h"
#include "process/immortal.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace xpu {
namespace cpu_features {
namespace {

#ifdef __x86_64__
// Some of the bits that change with microcode are beside those of instructions in leaf 7.
constexpr unsigned instructions_of_leaf_7 =
    1u << 2 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 8 | 1u << 14 | 1u << 16 | 1u << 22 | 1u << 23 | 1u << 24 |
    1u << 25;  // avx5124vnniw, avx5124fmaps, fsrm, uintr, vp2intersect, serialize, tsxldtrk, amx, avx512fp16

Registers this_cpuid(unsigned leaf, unsigned subleaf) {
  Registers got;
  if (!__get_cpuid_count(leaf, subleaf, &got.eax, &got.ebx, &got.ecx, &got.edx)) return {};
  return got;
}

unsigned this_saved() {
  constexpr unsigned osxsave = 1u << 27;
  if ((this_cpuid(1, 0).ecx & osxsave) == 0) return 0;
  unsigned low, high;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}
#endif

}  // namespace

bool has([[maybe_unused]] std::string_view name) {
#ifdef __x86_64__
#define XPU_ASK(known) \
  if (name == known) return __builtin_cpu_supports(known) != 0;
  XPU_FEATURES_OF_CORE_AVX2(XPU_ASK)
  XPU_FEATURES_OF_SKX(XPU_ASK)
#undef XPU_ASK
#endif
  return false;
}

std::string digits_of(const std::function<Registers(unsigned leaf, unsigned subleaf)>& cpuid,
                      unsigned saved) {
  Sha256 hash;
  auto add = [&hash](unsigned bits) { hash.field(std::to_string(bits)); };
#ifdef __x86_64__
  auto basic = cpuid(1, 0), extended = cpuid(7, 0), further = cpuid(7, 1), amd = cpuid(0x80000001, 0);
  for (auto bits : {basic.ecx, basic.edx, extended.ebx, extended.ecx, extended.edx & instructions_of_leaf_7,
                    further.eax, further.edx, amd.ecx, amd.edx, cpuid(0x24, 0).ebx})
    add(bits);
#endif
  add(saved);
  return hash.hex().substr(0, 16);
}

}  // namespace cpu_features

int machine_vector_bytes() {
  static const int bytes = cpu_features::vector_bytes(cpu_features::has);
  return bytes;
}

const std::string& cpu_feature_digits() {
#ifdef __x86_64__
  static auto& digits =
      leaked<std::string>(cpu_features::digits_of(cpu_features::this_cpuid, cpu_features::this_saved()));
#else
  static auto& digits = leaked<std::string>();
#endif
  return digits;
}

}  // namespace xpu

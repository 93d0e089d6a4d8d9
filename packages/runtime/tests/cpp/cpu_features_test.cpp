// CPU features select the images that a CPU can run, and are part of the keys of native code.
#include "compile/cpu_features.h"

#include <set>

#include "harness.h"

using namespace xpu::cpu_features;

namespace {

std::set<std::string_view> all_features() {
  std::set<std::string_view> all(of_core_avx2.begin(), of_core_avx2.end());
  all.insert(of_skx.begin(), of_skx.end());
  return all;
}

int bytes_with(const std::set<std::string_view>& features) {
  return vector_bytes([&](std::string_view name) { return features.contains(name); });
}

}  // namespace

TEST(images_need_every_feature_of_their_target) {
  auto all = all_features();
  CHECK_EQUAL(bytes_with(all), 64);
  for (auto name : of_skx) {
    auto without = all;
    without.erase(name);
    CHECK_EQUAL(bytes_with(without), 32);
  }
  for (auto name : of_core_avx2) {
    auto without = all;
    without.erase(name);
    CHECK_EQUAL(bytes_with(without), 0);
  }
}

TEST(what_hypervisors_hide_first_is_a_feature) {
  auto all = all_features();
  for (auto* name : {"avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe", "popcnt", "avx512bw", "avx512vl",
                     "avx512dq", "avx512cd"})
    CHECK(all.contains(name));
}

TEST(features_of_this_cpu_are_known) {
#ifdef __x86_64__
  CHECK(has("cmov"));
  CHECK_EQUAL(has("avx2"), __builtin_cpu_supports("avx2") != 0);
  CHECK_EQUAL(has("avx512vl"), __builtin_cpu_supports("avx512vl") != 0);
#endif
  CHECK(!has("no such feature"));
}

#ifdef __x86_64__
TEST(digits_differ_with_instructions_alone) {
  auto digits = [](unsigned leaf, unsigned subleaf, unsigned Registers::*which, int bit, unsigned saved = 7) {
    return digits_of(
        [=](unsigned asked, unsigned part) {
          Registers got;
          if (asked == leaf && part == subleaf) got.*which = 1u << bit;
          return got;
        },
        saved);
  };
  std::set<std::string> seen = {digits(0, 0, &Registers::eax, 0), digits(0, 0, &Registers::eax, 0, 0xe7)};
  for (int bit = 0; bit < 32; ++bit) {
    seen.insert(digits(1, 0, &Registers::ecx, bit));
    seen.insert(digits(7, 0, &Registers::ebx, bit));
    seen.insert(digits(7, 1, &Registers::eax, bit));
    seen.insert(digits(0x80000001, 0, &Registers::ecx, bit));
  }
  CHECK_EQUAL(seen.size(), std::size_t{2 + 4 * 32});
  constexpr int amx_bf16 = 22, speculation_control = 26, number_of_core = 24;
  CHECK(!seen.contains(digits(7, 0, &Registers::edx, amx_bf16)));
  CHECK(seen.contains(digits(7, 0, &Registers::edx, speculation_control)));
  CHECK(seen.contains(digits(1, 0, &Registers::ebx, number_of_core)));
}
#endif

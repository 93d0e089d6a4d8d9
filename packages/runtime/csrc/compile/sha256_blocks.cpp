#include "compile/sha256_blocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace xpu {
namespace {

// The first 32 bits of the fractions of the cube roots of the first 64 primes.
const std::array<std::uint32_t, 64>& round_constants() {
  static const auto table = [] {
    std::array<std::uint32_t, 64> k{};
    std::size_t count = 0;
    for (int n = 2; count < k.size(); ++n) {
      bool prime = true;
      for (int d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
      if (!prime) continue;
      long double root = cbrtl(n);
      k[count++] = static_cast<std::uint32_t>((root - floorl(root)) * 4294967296.0L);
    }
    return k;
  }();
  return table;
}

void add_block(std::uint32_t* state, const std::uint8_t* data) {
  auto& k = round_constants();
  std::uint32_t w[64];
  for (int i = 0; i < 16; ++i)
    w[i] = std::uint32_t(data[4 * i]) << 24 | std::uint32_t(data[4 * i + 1]) << 16 |
           std::uint32_t(data[4 * i + 2]) << 8 | data[4 * i + 3];
  for (int i = 16; i < 64; ++i) {
    auto a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  std::uint32_t s[8];
  std::copy(state, state + 8, s);
  for (int i = 0; i < 64; ++i) {
    auto big1 = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
    auto t1 = s[7] + big1 + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
    auto big0 = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
    auto t2 = big0 + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    std::copy_backward(s, s + 7, s + 8);
    s[4] += t1;
    s[0] = t1 + t2;
  }
  for (int i = 0; i < 8; ++i) state[i] += s[i];
}

}  // namespace

void add_blocks_portably(std::uint32_t* state, const std::uint8_t* data, std::size_t blocks) {
  for (; blocks; --blocks, data += 64) add_block(state, data);
}

#ifdef __x86_64__
bool has_sha256_instructions() {
  static const bool found = [] {
    unsigned a, b, c, d, e, f;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSSE3) && (c & bit_SSE4_1) &&
           __get_cpuid_count(7, 0, &a, &e, &f, &d) && (e & bit_SHA);
  }();
  return found;
}

// The instructions take the state as the words ABEF and CDGH, and four rounds' words of the message at a
// time.
__attribute__((target("sha,sse4.1"))) void add_blocks_by_instructions(std::uint32_t* state,
                                                                      const std::uint8_t* data,
                                                                      std::size_t blocks) {
  auto load = [](const void* from) __attribute__((target("sha,sse4.1"))) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  auto* constants = round_constants().data();
  const auto big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  auto badc = _mm_shuffle_epi32(load(state), 0xb1), hgfe = _mm_shuffle_epi32(load(state + 4), 0x1b);
  auto abef = _mm_alignr_epi8(badc, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
  for (; blocks; --blocks, data += 64) {
    const auto first_abef = abef, first_cdgh = cdgh;
    __m128i words[4];
    for (int i = 0; i < 4; ++i) words[i] = _mm_shuffle_epi8(load(data + 16 * i), big_endian);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      auto &now = words[i % 4], &next = words[(i + 1) % 4], &last = words[(i + 3) % 4];
      auto message = _mm_add_epi32(now, load(constants + 4 * i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, message);
      if (i >= 3 && i < 15)
        next = _mm_sha256msg2_epu32(_mm_add_epi32(next, _mm_alignr_epi8(now, last, 4)), now);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(message, 0x0e));
      if (i >= 1 && i < 13) last = _mm_sha256msg1_epu32(last, now);
    }
    abef = _mm_add_epi32(abef, first_abef);
    cdgh = _mm_add_epi32(cdgh, first_cdgh);
  }
  auto feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#else
bool has_sha256_instructions() {
  return false;
}
void add_blocks_by_instructions(std::uint32_t*, const std::uint8_t*, std::size_t) {}

#endif

}  // namespace xpu

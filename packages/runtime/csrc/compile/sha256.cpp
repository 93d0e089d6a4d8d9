#include "compile/sha256.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

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

}  // namespace

void Sha256::block(const std::uint8_t* data) {
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
  std::copy(state_, state_ + 8, s);
  for (int i = 0; i < 64; ++i) {
    auto big1 = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
    auto t1 = s[7] + big1 + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
    auto big0 = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
    auto t2 = big0 + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    std::copy_backward(s, s + 7, s + 8);
    s[4] += t1;
    s[0] = t1 + t2;
  }
  for (int i = 0; i < 8; ++i) state_[i] += s[i];
}

Sha256& Sha256::add(const void* data, std::size_t size) {
  auto* bytes = static_cast<const std::uint8_t*>(data);
  while (size) {
    std::size_t at = total_ % 64, take = std::min(size, 64 - at);
    std::memcpy(pending_ + at, bytes, take);
    total_ += take;
    bytes += take;
    size -= take;
    if (at + take == 64) block(pending_);
  }
  return *this;
}

Sha256& Sha256::field(std::string_view text) {
  std::uint64_t size = text.size();
  return add(&size, sizeof size).add(text);
}

std::array<std::uint8_t, 32> Sha256::digest() {
  std::uint64_t bits = total_ * 8;
  std::uint8_t one = 0x80, zero = 0, length[8];
  add(&one, 1);
  while (total_ % 64 != 56) add(&zero, 1);
  for (int i = 0; i < 8; ++i) length[i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
  add(length, 8);
  std::array<std::uint8_t, 32> result;
  for (int i = 0; i < 32; ++i) result[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return result;
}

std::string Sha256::hex() {
  std::string text;
  for (auto byte : digest()) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace xpu

#include "compile/sha256.h"

#include <algorithm>
#include <cstring>

#include "compile/sha256_blocks.h"

namespace xpu {

void Sha256::blocks(const std::uint8_t* data, std::size_t count) {
  if (has_sha256_instructions()) return add_blocks_by_instructions(state_, data, count);
  add_blocks_portably(state_, data, count);
}

Sha256& Sha256::add(const void* data, std::size_t size) {
  auto* bytes = static_cast<const std::uint8_t*>(data);
  while (size) {
    std::size_t at = total_ % 64, take = std::min(size, 64 - at);
    if (take == 64) {
      std::size_t whole = size / 64;
      blocks(bytes, whole);
      total_ += 64 * whole;
      bytes += 64 * whole;
      size -= 64 * whole;
      continue;
    }
    std::memcpy(pending_ + at, bytes, take);
    total_ += take;
    bytes += take;
    size -= take;
    if (at + take == 64) blocks(pending_, 1);
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

// SHA-256 (FIPS 180-4), to key and check cache files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "xpu/abi.h"

namespace xpu {

class XPU_API Sha256 {
 public:
  using Digest = std::array<std::uint8_t, 32>;
  Sha256& add(const void* data, std::size_t size);
  Sha256& add(std::string_view text) { return add(text.data(), text.size()); }
  /// Separates fields, so that ("ab","c") and ("a","bc") differ.
  Sha256& field(std::string_view text);
  Digest digest();
  std::string hex();

 private:
  void blocks(const std::uint8_t* data, std::size_t count);
  std::uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::uint8_t pending_[64];
  std::uint64_t total_ = 0;
};

}  // namespace xpu

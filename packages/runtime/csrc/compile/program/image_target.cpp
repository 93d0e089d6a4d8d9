#include "compile/program/image_target.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xpu {
namespace {

// A property of the image's metadata is a line of text. After "2|" come 6 bits a character, the lowest bits
// first: 8 bytes with the number of the value's bits, then the value.
constexpr std::string_view property = "\ntarget=2|";
constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t count_bytes = 8;

std::string encode(std::string_view bytes) {
  std::string text;
  unsigned bits = 0, count = 0;
  for (unsigned char byte : bytes) {
    bits |= static_cast<unsigned>(byte) << count;
    for (count += 8; count >= 6; count -= 6, bits >>= 6) text += digits[bits & 63];
  }
  if (count > 0) text += digits[bits];
  return text;
}

/// Returns nullopt for text that encode() does not make.
std::optional<std::string> decode(std::string_view text) {
  std::string bytes;
  unsigned bits = 0, count = 0;
  for (char digit : text) {
    auto value = digits.find(digit);
    if (value == digits.npos) return {};
    bits |= static_cast<unsigned>(value) << count;
    if ((count += 6) < 8) continue;
    bytes += static_cast<char>(bits & 255);
    count -= 8, bits >>= 8;
  }
  if (bits != 0) return {};
  return bytes;
}

}  // namespace

// The image's tables have offsets, so that the new name is as long as the old one. The loader reads it up to
// its first hyphen.
void name_loadable_target(Bytes& syclbin) {
  constexpr std::string_view prefix = "llvm_", padding = "-sycl";
  static_assert(prefix.size() == padding.size());
  for (auto at = syclbin.begin();; ++at) {
    at = std::search(at, syclbin.end(), property.begin(), property.end());
    if (at == syclbin.end()) return;
    auto begin = at + property.size(), end = std::find(begin, syclbin.end(), '\n');
    auto value = decode(std::string(begin, end));
    if (!value || value->size() < count_bytes || value->find('-') == value->npos) continue;
    auto target = std::string_view(*value).substr(count_bytes);
    if (!target.starts_with(prefix)) continue;
    auto renamed = encode(value->substr(0, count_bytes) + std::string(target.substr(prefix.size())) +
                          std::string(padding));
    std::copy(renamed.begin(), renamed.end(), begin);
  }
}

}  // namespace xpu

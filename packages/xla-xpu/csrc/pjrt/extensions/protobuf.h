// Writes protocol buffers. The interface needs only a few messages, so no library is used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xla_xpu {

class ProtoWriter {
 public:
  /// An integer, an enum or a bool.
  ProtoWriter& number(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  /// A string, bytes, a message, or packed integers.
  ProtoWriter& bytes(int field, std::string_view value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(value.size());
    text_ += value;
    return *this;
  }
  /// Appends one packed integer, without a field number.
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace xla_xpu

// The key of a plan: types, shapes, strides and options of a call, as words to hash and compare. Addresses
// are no part of it; they are kept separately, in the order in which tensors were added.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "xpu/tensor.h"

namespace xpu::dnn {

constexpr std::size_t max_operands = 40;

/// Text for an error message, composed only if the message is printed.
template <class F>
struct LazyText {
  F text;
  LazyText(F f) : text(std::move(f)) {}
  friend std::ostream& operator<<(std::ostream& to, const LazyText& lazy) { return to << lazy.text(); }
};

/// Describes an optional tensor in an error message.
inline auto describe_optional(const std::optional<Tensor>& t) {
  return LazyText([&t] { return t ? t->describe() : std::string(); });
}

class Problem {
 public:
  static constexpr std::size_t max_words = 320;

  Problem(const char* op, int device) : op_(op) {
    number(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(op)));
    number(device);
  }
  /// Returns the operand's index, by which plans name it.
  int add(const Tensor& tensor);
  void number(std::int64_t value) { words_[take()] = value; }
  void real(float value) { number(std::bit_cast<std::int32_t>(value)); }

  const char* op() const { return op_; }
  int device() const { return static_cast<int>(words_[1]); }
  const std::array<void*, max_operands>& pointers() const { return pointers_; }
  std::size_t operands() const { return operands_; }
  std::uint64_t hash() const;
  std::vector<std::int64_t> key() const { return {words_, words_ + count_}; }
  bool matches(const std::vector<std::int64_t>& key) const {
    return key.size() == count_ && std::memcmp(key.data(), words_, count_ * sizeof *words_) == 0;
  }

 private:
  std::size_t take();

  const char* op_;
  std::size_t count_ = 0, operands_ = 0;
  std::array<void*, max_operands> pointers_;
  std::int64_t words_[max_words];
};

}  // namespace xpu::dnn

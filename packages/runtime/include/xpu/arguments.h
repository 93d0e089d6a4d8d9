// Arguments of a launch, by value: pointers, scalars, trivially copyable structs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "xpu/abi.h"

namespace xpu {

/// Where one argument is among the bytes of all.
struct ArgumentItem {
  std::uint16_t offset, size;
  bool pointer;
  bool operator==(const ArgumentItem&) const = default;
};

/// A launch's arguments in order. Owns nothing.
struct ArgumentList {
  const ArgumentItem* items;
  std::size_t count;
  const unsigned char* bytes;  ///< aligned to 8, as is each argument in it

  const void* data(std::size_t i) const { return bytes + items[i].offset; }
};

/// Adds one argument behind the `used` bytes of those before it.
inline ArgumentItem next_argument(std::size_t used, std::size_t size, bool pointer) {
  auto offset = (used + 7) / 8 * 8;
  return {static_cast<std::uint16_t>(offset), static_cast<std::uint16_t>(size), pointer};
}

/// Arguments of a kernel that takes few. Does not allocate.
class Args {
 public:
  static constexpr std::size_t max_count = 40, max_bytes = 2040;

  template <class T>
  Args& add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return add_bytes(&value, sizeof(T), std::is_pointer_v<T>);
  }
  /// Throws UsageError for too many arguments or bytes.
  XPU_API Args& add_bytes(const void* data, std::size_t size, bool pointer = false);

  operator ArgumentList() const { return {items_.data(), count_, bytes_}; }

 private:
  std::size_t count_ = 0, used_ = 0;
  std::array<ArgumentItem, max_count> items_;
  alignas(8) unsigned char bytes_[max_bytes];
};

template <class... T>
Args args(const T&... values) {
  Args list;
  (list.add(values), ...);
  return list;
}

/// Arguments of a kernel that may take as many as its device allows.
class XPU_API ManyArgs {
 public:
  ManyArgs() = default;
  explicit ManyArgs(const ArgumentList& list) { assign(list); }

  /// Makes it a copy of `list`.
  void assign(const ArgumentList& list);

  /// Throws UsageError for more bytes than any device allows.
  ManyArgs& add_bytes(const void* data, std::size_t size, bool pointer = false);

  void* data(std::size_t i) { return bytes_.data() + items_[i].offset; }
  operator ArgumentList() const { return {items_.data(), items_.size(), bytes_.data()}; }

 private:
  std::vector<ArgumentItem> items_;
  std::vector<unsigned char> bytes_;
};

}  // namespace xpu

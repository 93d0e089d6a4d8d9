#include "xpu/arguments.h"

#include <limits>

#include "xpu/error.h"

namespace xpu {

Args& Args::add_bytes(const void* data, std::size_t size, bool pointer) {
  auto item = next_argument(used_, size, pointer);
  expect<UsageError>(count_ < max_count && item.offset + size <= max_bytes, "kernel arguments: more than ",
                     max_count, " or over ", max_bytes, " bytes in all");
  std::memcpy(bytes_ + item.offset, data, size);
  items_[count_++] = item;
  used_ = item.offset + size;
  return *this;
}

void ManyArgs::assign(const ArgumentList& list) {
  items_.assign(list.items, list.items + list.count);
  auto used = list.count ? std::size_t{items_.back().offset} + items_.back().size : 0;
  bytes_.assign(list.bytes, list.bytes + used);
}

ManyArgs& ManyArgs::add_bytes(const void* data, std::size_t size, bool pointer) {
  constexpr std::size_t max_bytes = std::numeric_limits<std::uint16_t>::max();
  expect<UsageError>(bytes_.size() + 8 + size <= max_bytes, "kernel arguments: over ", max_bytes,
                     " bytes in all");
  auto item = next_argument(bytes_.size(), size, pointer);
  bytes_.resize(item.offset + size);
  std::memcpy(bytes_.data() + item.offset, data, size);
  items_.push_back(item);
  return *this;
}

}  // namespace xpu

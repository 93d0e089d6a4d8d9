// Names of memory owners.
#include "memory/owners.h"

#include <deque>
#include <mutex>

#include "process/immortal.h"
#include "xpu/error.h"

namespace xpu::memory {
namespace {

struct Names {
  std::mutex mutex;
  std::deque<std::string> all{"xpu"};
};
Names& names() {
  static auto& one = immortal<Names>();
  return one;
}

}  // namespace

Owner owner(std::string_view name) {
  auto& table = names();
  std::lock_guard lock(table.mutex);
  for (std::size_t i = 0; i < table.all.size(); ++i)
    if (table.all[i] == name) return static_cast<Owner>(i);
  expect<UsageError>(table.all.size() < 255, "owner: cannot add \"", name,
                     "\": there are already 255 owners of memory");
  table.all.emplace_back(name);
  return static_cast<Owner>(table.all.size() - 1);
}

const char* owner_text(Owner owner) {
  auto& table = names();
  std::lock_guard lock(table.mutex);
  return owner < table.all.size() ? table.all[owner].c_str() : "?";
}

std::string owner_name(Owner owner) {
  return owner_text(owner);
}

}  // namespace xpu::memory

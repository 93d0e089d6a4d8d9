// Names of who holds memory.
#include "memory/owners.h"

#include <deque>
#include <mutex>

#include "immortal.h"
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
  auto& known = names();
  std::lock_guard lock(known.mutex);
  for (std::size_t i = 0; i < known.all.size(); ++i)
    if (known.all[i] == name) return static_cast<Owner>(i);
  expect<UsageError>(known.all.size() < 255, "owner: there are 255 owners of memory already, so \"", name,
                     "\" cannot be one more");
  known.all.emplace_back(name);
  return static_cast<Owner>(known.all.size() - 1);
}

const char* owner_text(Owner owner) {
  auto& known = names();
  std::lock_guard lock(known.mutex);
  return owner < known.all.size() ? known.all[owner].c_str() : "?";
}

std::string owner_name(Owner owner) {
  return owner_text(owner);
}

}  // namespace xpu::memory

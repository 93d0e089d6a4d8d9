// What the generated functions of operators share.
#pragma once

#include <ATen/core/List.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cstdint>
#include <string>

namespace torch_xpu {

/// Scope in which operators are called as compiled code means them: autograd and autocast were applied when
/// it was compiled.
class BelowWrappers {
 private:
  c10::impl::ExcludeDispatchKeyGuard guard_{c10::autograd_dispatch_keyset_with_ADInplaceOrView |
                                            c10::autocast_dispatch_keyset};
};

inline c10::List<std::string> list_of_strings(const char* const* strings, std::int64_t count) {
  c10::List<std::string> list;
  list.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) list.emplace_back(strings[i]);
  return list;
}

}  // namespace torch_xpu

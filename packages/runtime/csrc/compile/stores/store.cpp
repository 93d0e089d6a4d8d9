#include "compile/stores/store.h"

#include "xpu/device.h"
#include "xpu/process.h"

namespace xpu {

// The package comes first, so that its SPIR-V, for which it has native code, is not hidden by another
// compiler's.
std::span<Store* const> stores_of(Key::Kind kind) {
  static Store* const spirv[] = {&package_store(), &disk_store(), &ready_spirv_store()};
  static Store* const native[] = {&package_store(), &disk_store(), &ready_image_store()};
  return kind == Key::Kind::spirv ? spirv : native;
}

std::optional<Entry> find_stored(const Key& key, Store** answered) {
  for (auto* store : stores_of(key.kind))
    if (auto entry = store->find(key)) {
      if (answered) *answered = store;
      return entry;
    }
  return {};
}

bool store(const Key& key, const Entry& entry) {
  bool stored = false;
  for (auto* store : stores_of(key.kind)) stored = store->put(key, entry) || stored;
  return stored;
}

std::optional<Entry> native_entry(int device, const Bytes& native) {
  if (!native.empty()) return Entry{Entry::Kind::native, native};
  if (!generic_backend() && device_info(device).backend == "level_zero")
    return Entry{Entry::Kind::kept_by_driver, {}};
  return {};
}

}  // namespace xpu

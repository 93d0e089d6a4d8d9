// Where a build looks for what an earlier one made. builder.cpp asks the stores in order and names no other
// place, so that a new store is one more file here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compile/keys.h"
#include "xpu/cache.h"

namespace xpu {

struct Entry {
  enum class Kind {
    spirv,
    native,
    kept_by_driver,  ///< has built the SPIR-V without a crash and has its binary in a cache of its own
  };
  Kind kind;
  Bytes bytes;  ///< none if the driver has them
};

class Store {
 public:
  virtual ~Store() = default;
  virtual std::string_view name() const = 0;
  /// Also says that the entry was used, to stores that evict the others.
  virtual std::optional<Entry> find(const Key& key) = 0;
  /// Says for people why find() has nothing.
  virtual std::string reason(const Key& key) = 0;
  /// Returns false if it did not keep the entry.
  virtual bool put(const Key&, const Entry&) { return false; }
};

/// The stores of a kind of keys, in the order in which builds ask them.
std::span<Store* const> stores_of(Key::Kind kind);
Store& package_store();
Store& disk_store();
Store& ready_spirv_store();
Store& ready_image_store();

/// Returns the first answer of the stores; `answered` is then the store that gave it.
std::optional<Entry> find_stored(const Key& key, Store** answered = nullptr);
/// Keeps the entry in the stores that take it. Returns false if none did.
bool store(const Key& key, const Entry& entry);
/// Returns what is to be stored of a device's native binary; nullopt if there is nothing.
std::optional<Entry> native_entry(int device, const Bytes& native);

}  // namespace xpu

#include <filesystem>

#include "compile/stores/disk_cache.h"
#include "compile/stores/store.h"
#include "process/immortal.h"
#include "xpu/error.h"

namespace xpu {
namespace {

// The kind of an entry is in the file's name. A mark is a file without content.
constexpr std::string_view spirv_suffix = ".spv", native_suffix = ".bin", mark_suffix = ".mark";

std::string_view suffix_of(Entry::Kind kind) {
  switch (kind) {
    case Entry::Kind::spirv:
      return spirv_suffix;
    case Entry::Kind::native:
      return native_suffix;
    case Entry::Kind::kept_by_driver:
      break;
  }
  return mark_suffix;
}

/// The user's folder of files.
class DiskStore : public Store {
 public:
  std::string_view name() const override { return "disk cache"; }

  std::optional<Entry> find(const Key& key) override {
    if (key.kind == Key::Kind::spirv) return read(key, Entry::Kind::spirv);
    auto native = read(key, Entry::Kind::native);
    return native ? native : read(key, Entry::Kind::kept_by_driver);
  }

  std::string reason(const Key& key) override {
    if (cache_folder().empty()) return "is off";
    auto file = key.id + std::string(key.kind == Key::Kind::spirv ? spirv_suffix : native_suffix);
    std::error_code failed;
    bool exists = std::filesystem::exists(cache_folder() + "/" + file, failed);
    return join(exists ? "cannot read " : "has no ", file);
  }

  bool put(const Key& key, const Entry& entry) override {
    return cache_write(key.id + std::string(suffix_of(entry.kind)), entry.bytes);
  }

 private:
  static std::optional<Entry> read(const Key& key, Entry::Kind kind) {
    auto bytes = cache_read(key.id + std::string(suffix_of(kind)));
    if (!bytes) return {};
    return Entry{kind, std::move(*bytes)};
  }
};

}  // namespace

bool has_stored_programs() {
  if (cache_folder().empty()) return false;
  std::error_code failed;
  for (auto& item : std::filesystem::directory_iterator(cache_folder(), failed)) {
    auto suffix = item.path().extension();
    if (suffix == native_suffix || suffix == mark_suffix) return true;
  }
  return false;
}

Store& disk_store() {
  static auto& store = leaked<DiskStore>();
  return store;
}

}  // namespace xpu

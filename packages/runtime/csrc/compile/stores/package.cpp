#include "compile/stores/package.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "compile/stores/pack_file.h"
#include "compile/stores/store.h"
#include "process/immortal.h"
#include "xpu/error.h"
#include "xpu/ready_kernels.h"

namespace xpu {
namespace {

class PackageStore : public Store {
 public:
  std::string_view name() const override { return "package"; }

  std::optional<Entry> find(const Key& key) override {
    if (is_empty()) return {};
    auto name = package_key(key);
    std::shared_lock lock(mutex_);
    for (auto& file : files_)
      if (auto content = file->find(name))
        return Entry{key.kind == Key::Kind::spirv ? Entry::Kind::spirv : Entry::Kind::native,
                     std::move(*content)};
    return {};
  }

  std::string reason(const Key&) override {
    return is_empty() ? "was not loaded" : "has other kernels, or is for another machine";
  }

  void add(std::unique_ptr<PackFile> file) {
    std::unique_lock lock(mutex_);
    // Loading a package twice unpacks it twice. A copy that turned out to be damaged is no reason to miss.
    for (auto& known : files_)
      if (known->identity() == file->identity() && !known->is_damaged()) return;
    files_.push_back(std::move(file));
    count_.store(files_.size(), std::memory_order_release);
  }

 private:
  // Most processes load no package.
  bool is_empty() const { return count_.load(std::memory_order_acquire) == 0; }

  std::shared_mutex mutex_;
  std::vector<std::unique_ptr<PackFile>> files_;
  std::atomic<std::size_t> count_{0};
};

PackageStore& packages() {
  static auto& store = leaked<PackageStore>();
  return store;
}

std::uint8_t digit(char hex) {
  return static_cast<std::uint8_t>(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

}  // namespace

Store& package_store() {
  return packages();
}

ReadyKey package_key(const Key& key) {
  if (key.kind == Key::Kind::spirv) return key.ready;
  ReadyKey bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(digit(key.id[2 * i]) << 4 | digit(key.id[2 * i + 1]));
  return bytes;
}

void add_kernels(const std::string& path) {
  auto file = std::make_unique<PackFile>(path, "make the package again, or copy it again");
  expect<UsageError>(!file->is_missing(), "add_kernels: cannot open ", path, ", expected a file of kernels");
  if (!file->empty()) packages().add(std::move(file));
}

}  // namespace xpu

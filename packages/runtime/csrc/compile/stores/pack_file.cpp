#include "compile/stores/pack_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "process/immortal.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu {
namespace {

// The file: this head, the entries by rising key, the contents.
struct Head {
  char magic[8];
  std::uint64_t count;
};
constexpr char pack_magic[8] = {'X', 'P', 'U', 'R', 'E', 'A', 'D', '3'};

// The folder that the package is installed in.
std::filesystem::path site_packages() {
  static int here = 0;
  Dl_info info;
  if (!dladdr(&here, &info)) return {};
  return std::filesystem::path(info.dli_fname).parent_path().parent_path().parent_path();
}

}  // namespace

PackFile& PackFile::in_site_packages(const std::string& path, const std::string& wheel) {
  return leaked<PackFile>(site_packages() / path, join("install ", wheel, " again"));
}

PackFile::PackFile(const std::filesystem::path& path, std::string remedy)
    : path_(path), remedy_(std::move(remedy)), file_(open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat about;
  if (file_ < 0 || fstat(file_, &about) != 0) return;
  size_ = static_cast<std::uint64_t>(about.st_size);
  Head head;
  if (read(&head, sizeof head, 0) && std::memcmp(head.magic, pack_magic, sizeof pack_magic) == 0 &&
      head.count <= size_ / sizeof(Entry)) {
    entries_.resize(head.count);
    if (read(entries_.data(), head.count * sizeof(Entry), sizeof head)) {
      identity_ = Sha256().add(entries_.data(), head.count * sizeof(Entry)).digest();
      return;
    }
    entries_.clear();
  }
  warn();
}

PackFile::~PackFile() {
  if (file_ >= 0) close(file_);
}

std::optional<Bytes> PackFile::find(const Sha256::Digest& key) const {
  auto at = std::ranges::lower_bound(entries_, key, {}, &Entry::key);
  if (at == entries_.end() || at->key != key) return {};
  return content_of(*at);
}

std::vector<Bytes> PackFile::of_targets(TargetMask targets) const {
  std::vector<Bytes> found;
  for (auto& entry : entries_)
    if (entry.targets & static_cast<std::uint64_t>(targets))
      if (auto content = content_of(entry)) found.push_back(std::move(*content));
  return found;
}

std::optional<Bytes> PackFile::content_of(const Entry& entry) const {
  auto [first, second] = entry.parts;
  if (first.size <= size_ && second.size <= size_) {
    Bytes content(first.size + second.size);
    if (read(content.data(), first.size, first.offset) &&
        read(content.data() + first.size, second.size, second.offset) &&
        Sha256().add(content.data(), content.size()).digest() == entry.digest)
      return content;
  }
  warn();
  return {};
}

bool PackFile::read(void* to, std::size_t size, std::uint64_t offset) const {
  return pread(file_, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

void PackFile::warn() const {
  if (!warned_.exchange(true))
    log(LogLevel::warning, join(path_, " is damaged, so kernels in it are compiled; ", remedy_));
}

}  // namespace xpu

#include "compile/ready_kernels.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>

#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu::ready_kernels {
namespace {

// The file, as ready_kernels/pack.py writes it: this head, the entries by rising key, the SPIR-V of each.
struct Head {
  char magic[8];
  std::uint64_t count;
};
struct Entry {
  Sha256::Digest key;
  std::uint64_t offset, size;
};
constexpr char magic[8] = {'X', 'P', 'U', 'R', 'E', 'A', 'D', '1'};

std::string path() {
  static int here = 0;
  Dl_info info;
  if (!dladdr(&here, &info)) return "";
  return std::filesystem::path(info.dli_fname).parent_path().parent_path() / "kernels.ready";
}

// Maps the file; returns nothing if there is none, as in a build of the library alone.
std::span<const std::uint8_t> map_file(const std::string& path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  struct stat about;
  auto size = fstat(file, &about) == 0 ? static_cast<std::size_t>(about.st_size) : 0;
  void* data = size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  close(file);
  if (data == MAP_FAILED) return {};
  return {static_cast<const std::uint8_t*>(data), size};
}

class Pack {
 public:
  explicit Pack(const std::string& path) : bytes_(map_file(path)) {
    if (bytes_.empty()) return;
    Head head{};
    if (bytes_.size() >= sizeof head) std::memcpy(&head, bytes_.data(), sizeof head);
    auto room = (bytes_.size() - std::min(bytes_.size(), sizeof head)) / sizeof(Entry);
    if (std::memcmp(head.magic, magic, sizeof magic) == 0 && head.count <= room)
      entries_ = {reinterpret_cast<const Entry*>(bytes_.data() + sizeof head), head.count};
    else
      log(LogLevel::warning, join(path, " is damaged; kernels that ship with the library are compiled"));
  }

  std::optional<Bytes> find(const Sha256::Digest& key) const {
    auto at = std::ranges::lower_bound(entries_, key, {}, &Entry::key);
    if (at == entries_.end() || at->key != key) return {};
    if (at->offset > bytes_.size() || at->size > bytes_.size() - at->offset) return {};
    auto* begin = bytes_.data() + at->offset;
    return Bytes(begin, begin + at->size);
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::span<const Entry> entries_;
};

}  // namespace

std::optional<Bytes> find(const Sha256::Digest& key) {
  static auto* pack = new Pack(path());
  return pack->find(key);
}

}  // namespace xpu::ready_kernels

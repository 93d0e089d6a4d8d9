#include "compile/ready_kernels.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <vector>

#include "compile/builder.h"
#include "xpu/device.h"
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
  Sha256::Digest key, digest;  // the digest is that of the SPIR-V
  std::uint64_t offset, size;
  std::uint64_t devices;  // a sum: 1 for GPUs, 32 and 64 for CPUs whose vector registers have so many bytes
};
constexpr char magic[8] = {'X', 'P', 'U', 'R', 'E', 'A', 'D', '2'};

std::string path() {
  static int here = 0;
  Dl_info info;
  if (!dladdr(&here, &info)) return "";
  return std::filesystem::path(info.dli_fname).parent_path().parent_path() / "kernels.ready";
}

// The file stays open and is read, not mapped: a mapped file that somebody shortens would end the process.
class Pack {
 public:
  explicit Pack(const std::string& path) : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat about;
    if (file_ < 0 || fstat(file_, &about) != 0) return;  // a build of the library alone has none
    size_ = static_cast<std::uint64_t>(about.st_size);
    Head head;
    if (read(&head, sizeof head, 0) && std::memcmp(head.magic, magic, sizeof magic) == 0 &&
        head.count <= size_ / sizeof(Entry)) {
      entries_.resize(head.count);
      if (read(entries_.data(), head.count * sizeof(Entry), sizeof head)) return;
      entries_.clear();
    }
    warn();
  }

  std::optional<Bytes> find(const Sha256::Digest& key) const {
    auto at = std::ranges::lower_bound(entries_, key, {}, &Entry::key);
    if (at == entries_.end() || at->key != key) return {};
    return spirv_of(*at);
  }

  std::vector<Bytes> of_devices(std::uint64_t devices) const {
    std::vector<Bytes> found;
    for (auto& entry : entries_)
      if (entry.devices & devices)
        if (auto spirv = spirv_of(entry)) found.push_back(std::move(*spirv));
    return found;
  }

 private:
  std::optional<Bytes> spirv_of(const Entry& entry) const {
    if (entry.size <= size_) {
      Bytes spirv(entry.size);
      if (read(spirv.data(), spirv.size(), entry.offset) &&
          Sha256().add(spirv.data(), spirv.size()).digest() == entry.digest)
        return spirv;
    }
    warn();
    return {};
  }
  bool read(void* to, std::size_t size, std::uint64_t offset) const {
    return pread(file_, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
  }
  void warn() const {
    static std::atomic<bool> warned{false};
    if (!warned.exchange(true))
      log(LogLevel::warning, join(path_,
                                  " is damaged, so kernels that ship with the wheel are compiled; "
                                  "install xpu-runtime again"));
  }

  std::string path_;
  int file_;
  std::uint64_t size_ = 0;
  std::vector<Entry> entries_;
};

const Pack& pack() {
  static auto* pack = new Pack(path());
  return *pack;
}

}  // namespace

std::optional<Bytes> find(const Sha256::Digest& key) {
  return pack().find(key);
}

std::vector<Bytes> of_device(int device) {
  constexpr std::uint64_t gpus = 1, cpus = 32 | 64;
  auto registers = static_cast<std::uint64_t>(cpu_vector_bytes(device));
  return pack().of_devices(device_info(device).is_gpu ? gpus : registers ? registers : cpus);
}

}  // namespace xpu::ready_kernels

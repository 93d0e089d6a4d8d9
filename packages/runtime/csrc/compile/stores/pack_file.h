// Files of kernels: those that ship in wheels, and those of packages of compiled programs.
// xpu_runtime/pack_file.py writes them.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compile/sha256.h"
#include "xpu/cache.h"

namespace xpu {

/// Kinds of machines: GPUs, and CPUs by the bytes of their vector registers.
enum class TargetMask : std::uint64_t { gpu = 1, avx2 = 32, avx512 = 64 };

/// Stays open and is read, not mapped: a mapped file that somebody shortens would end the process. If it is
/// damaged, that is a miss and one warning. Thread-safe.
class PackFile {
 public:
  /// `remedy` is what the warning advises. A missing file is empty.
  PackFile(const std::filesystem::path& path, std::string remedy);
  ~PackFile();
  PackFile(const PackFile&) = delete;
  PackFile& operator=(const PackFile&) = delete;
  /// A file that ships in `wheel`, which is installed beside this library's package.
  static PackFile& in_site_packages(const std::string& path, const std::string& wheel);

  bool empty() const { return entries_.empty(); }
  bool is_missing() const { return file_ < 0; }
  bool is_damaged() const { return warned_.load(std::memory_order_relaxed); }
  /// Identifies the keys and contents.
  const Sha256::Digest& identity() const { return identity_; }
  std::optional<Bytes> find(const Sha256::Digest& key) const;
  /// Returns all contents that are for any of `targets`.
  std::vector<Bytes> of_targets(TargetMask targets) const;

 private:
  // Contents that resemble each other lie side by side, which makes wheels smaller. Those of native images
  // are two parts for that reason.
  struct Part {
    std::uint64_t offset, size;
  };
  struct Entry {
    Sha256::Digest key, digest;  // the digest is that of the content
    Part parts[2];
    std::uint64_t targets;  // a TargetMask
  };

  std::optional<Bytes> content_of(const Entry& entry) const;
  bool read(void* to, std::size_t size, std::uint64_t offset) const;
  void warn() const;

  std::string path_, remedy_;
  int file_;
  std::uint64_t size_ = 0;
  std::vector<Entry> entries_;
  Sha256::Digest identity_{};
  mutable std::atomic<bool> warned_{false};
};

}  // namespace xpu

#include "xpu/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "compile/folders.h"
#include "compile/stores/cache_file.h"
#include "compile/stores/disk_cache.h"
#include "compile/stores/eviction.h"
#include "process/env.h"
#include "process/immortal.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu {
namespace {

namespace fs = std::filesystem;
// The first problem of each kind in the process is logged.
enum class Problem { folder, file, writing };

void warn_once(Problem problem, const std::string& message) {
  static std::atomic<bool> logged[3];
  if (!logged[static_cast<int>(problem)].exchange(true)) log(LogLevel::warning, message);
}

std::string choose_folder() {
  std::string base = env::text("XPU_CACHE_DIR");
  if (base.empty()) {
    std::string home = env::text("XDG_CACHE_HOME");
    if (home.empty() && !env::text("HOME").empty()) home = env::text("HOME") + "/.cache";
    if (home.empty()) return "";
    base = home + "/xpu-sdk/kernels";
  }
  return base;
}

// Makes the folder for the user alone. Returns "" for a folder that others could write.
std::string open_folder() {
  if (cache_limit() == 0) return "";
  std::string folder = absolute_path(choose_folder());
  if (folder.empty()) return "";
  std::error_code failed;
  fs::create_directories(fs::path(folder).parent_path(), failed);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    warn_once(Problem::folder,
              join("kernel cache is off: cannot create ", folder, ": ", std::strerror(errno)));
    return "";
  }
  struct stat about;
  if (stat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) {
    warn_once(Problem::folder, join("kernel cache is off: ", folder, " is not a folder"));
    return "";
  }
  if (!is_private_folder(about)) {
    warn_once(Problem::folder, join("kernel cache is off: ", folder,
                                    " belongs to or can be written by somebody else; cached kernels are "
                                    "code, so run: chmod 700 ",
                                    folder, " (or set XPU_CACHE_DIR to a folder of your own)"));
    return "";
  }
  return folder;
}

std::atomic<bool> last_write_failed{false};

}  // namespace

std::uint64_t cache_limit() {
  return env::number("XPU_CACHE_SIZE", 1u << 30);
}

const std::string& cache_folder() {
  static auto& folder = leaked<std::string>(open_folder());
  return folder;
}

std::optional<Bytes> cache_read(const std::string& key) {
  if (auto& folder = cache_folder(); !folder.empty()) {
    std::string path = folder + "/" + key;
    auto file = read_cache_file(path);
    if (file.payload) {
      std::error_code ignored;  // without the new time the file only looks older
      fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
      return std::move(file.payload);
    }
    if (!file.fault.empty()) {
      bool removed = std::remove(path.c_str()) == 0;
      warn_once(Problem::file, join("kernel cache: ", path, " ", file.fault, "; it is ",
                                    removed ? "removed and built again"
                                            : "not removable, so the kernel is built each time"));
    }
  }
  return {};
}

void evict_cache() {
  if (!cache_folder().empty()) evict_cache_files(cache_folder(), cache_limit());
}

bool cache_write(const std::string& key, const Bytes& payload) {
  static std::atomic<unsigned> writes{0};
  auto& folder = cache_folder();
  if (folder.empty()) return false;
  // Checked at every 64th write, so the cache may exceed its limit by a few files.
  if (writes++ % 64 == 0) evict_cache();
  std::string path = folder + "/" + key;
  int failed = write_cache_file(path, payload);
  // The folder may have been removed since it was opened.
  if (failed == ENOENT && mkdir(folder.c_str(), 0700) == 0) failed = write_cache_file(path, payload);
  last_write_failed = failed != 0 && failed != EISDIR;
  // EISDIR was logged when the file was read.
  if (failed != 0 && failed != EISDIR)
    warn_once(Problem::writing, join("kernel cache: cannot write ", path, ": ", std::strerror(failed),
                                     "; continuing without it"));
  return failed == 0;
}

bool is_cache_writable() {
  auto& folder = cache_folder();
  if (folder.empty() || last_write_failed) return false;
  // Also false on a read-only file system. A folder that was removed is made again.
  return faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0 || errno == ENOENT;
}

}  // namespace xpu

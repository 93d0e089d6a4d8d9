#include "xpu/cache.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "compile/sha256.h"
#include "env.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view magic = "XPUCACHE1\n";
constexpr std::size_t digest_size = 32;

void warn_once(const std::string& message) {
  static std::atomic<bool> told{false};
  if (!told.exchange(true)) log(LogLevel::warning, message);
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

// Made for the user alone; one that others could write to is refused.
std::string open_folder() {
  if (env::number("XPU_CACHE_SIZE", 1) == 0) return "";
  std::string folder = choose_folder();
  if (folder.empty()) return "";
  std::error_code failed;
  fs::create_directories(fs::path(folder).parent_path(), failed);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    warn_once(join("kernel cache is off: cannot create ", folder, ": ", std::strerror(errno)));
    return "";
  }
  struct stat about;
  if (stat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) {
    warn_once(join("kernel cache is off: ", folder, " is not a folder"));
    return "";
  }
  if (about.st_uid != geteuid() || (about.st_mode & 022)) {
    warn_once(join("kernel cache is off: ", folder,
                   " belongs to or can be written by somebody else; cached kernels are "
                   "code, so run: chmod 700 ",
                   folder, " (or set XPU_CACHE_DIR to a folder of your own)"));
    return "";
  }
  return folder;
}

std::optional<Bytes> read_checked(const std::string& path, bool& damaged) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  std::string all((std::istreambuf_iterator<char>(file)), {});
  damaged = true;
  if (all.size() < magic.size() + digest_size || all.compare(0, magic.size(), magic) != 0) return {};
  std::string_view payload = std::string_view(all).substr(magic.size() + digest_size);
  auto digest = Sha256().add(payload).digest();
  if (std::memcmp(digest.data(), all.data() + magic.size(), digest_size) != 0) return {};
  damaged = false;
  return Bytes(payload.begin(), payload.end());
}

// Runs when the process first writes and every 64 writes after that, so the bound is kept within a few files.
void evict(const std::string& folder) {
  struct File {
    fs::path path;
    std::uintmax_t size;
    fs::file_time_type used;
  };
  std::vector<File> files;
  std::uintmax_t total = 0;
  std::error_code failed;
  for (auto& item : fs::directory_iterator(folder, failed)) {
    std::error_code gone;  // another process may evict too
    File file{item.path(), item.file_size(gone), item.last_write_time(gone)};
    if (gone) continue;
    total += file.size;
    files.push_back(std::move(file));
  }
  auto limit = env::number("XPU_CACHE_SIZE", 1u << 30);
  if (total <= limit) return;
  std::sort(files.begin(), files.end(), [](auto& a, auto& b) { return a.used < b.used; });
  for (auto& file : files) {
    if (total <= limit / 10 * 9) return;
    fs::remove(file.path, failed);
    total -= file.size;
  }
}

}  // namespace

const std::string& cache_folder() {
  static auto* folder = new std::string(open_folder());
  return *folder;
}

std::string shipped_folder() {
  static int here = 0;
  Dl_info info;
  if (!dladdr(&here, &info)) return "";
  return fs::path(info.dli_fname).parent_path().parent_path() / "spirv";
}

std::optional<Bytes> cache_read(const std::string& key) {
  if (auto& folder = cache_folder(); !folder.empty()) {
    std::string path = folder + "/" + key;
    bool damaged = false;
    if (auto payload = read_checked(path, damaged)) {
      std::error_code ignored;  // a lost touch only makes the file look older than it is
      fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
      return payload;
    }
    if (damaged) {
      warn_once(join("kernel cache: ", path, " is damaged; it is removed and built again"));
      unlink(path.c_str());
    }
  }
  bool damaged = false;
  return read_checked(shipped_folder() + "/" + key, damaged);
}

void cache_write(const std::string& key, const Bytes& payload) {
  static std::atomic<unsigned> writes{0};
  auto& folder = cache_folder();
  if (folder.empty()) return;
  if (writes++ % 64 == 0) evict(folder);
  std::string path = folder + "/" + key,
              beside = path + "." + std::to_string(getpid()) + "." + std::to_string(writes);
  auto digest = Sha256().add(payload.data(), payload.size()).digest();
  std::ofstream file(beside, std::ios::binary);
  file.write(magic.data(), magic.size());
  file.write(reinterpret_cast<const char*>(digest.data()), digest.size());
  file.write(reinterpret_cast<const char*>(payload.data()), static_cast<std::streamsize>(payload.size()));
  file.close();
  if (!file || std::rename(beside.c_str(), path.c_str()) != 0) {
    warn_once(join("kernel cache: cannot write ", path, ": ", std::strerror(errno), "; going on without it"));
    unlink(beside.c_str());
  }
}

}  // namespace xpu

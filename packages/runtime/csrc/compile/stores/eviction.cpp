#include "compile/stores/eviction.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "compile/stores/cache_file.h"

namespace xpu {
namespace {

constexpr std::time_t abandoned_after = 3600;  // seconds

struct CachedFile {
  std::string name;
  std::uint64_t size;
  timespec used;
};

// Names are looked up in the folder that was opened and checked, even if its path leads elsewhere meanwhile.
class CacheFolder {
 public:
  explicit CacheFolder(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
        entries_(descriptor_ < 0 ? nullptr : fdopendir(descriptor_)) {
    if (!entries_ && descriptor_ >= 0) close(descriptor_);
  }
  ~CacheFolder() {
    if (entries_) closedir(entries_);
  }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;

  bool is_private() const {
    struct stat about;
    return entries_ && fstat(descriptor_, &about) == 0 && is_private_folder(about);
  }

  const char* next_name() const {
    auto* entry = readdir(entries_);
    return entry ? entry->d_name : nullptr;
  }

  /// Returns false unless it is a regular file of the user's with the header of a cache file.
  bool describe(const char* name, CachedFile& file) const {
    // Does not block on a pipe or follow a link.
    int opened = openat(descriptor_, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (opened < 0) return false;
    struct stat about;
    bool is_ours = fstat(opened, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
                   has_cache_header(opened, is_unfinished_name(name));
    close(opened);
    file = {name, static_cast<std::uint64_t>(about.st_size), about.st_mtim};
    return is_ours;
  }

  bool remove(const std::string& name) const { return unlinkat(descriptor_, name.c_str(), 0) == 0; }

 private:
  int descriptor_;
  DIR* entries_;
};

bool used_earlier(const CachedFile& a, const CachedFile& b) {
  return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
}

}  // namespace

void evict_cache_files(const std::string& path, std::uint64_t limit) {
  CacheFolder folder(path);
  if (!folder.is_private()) return;
  std::vector<CachedFile> files;
  std::uint64_t total = 0;
  auto abandoned_before = std::time(nullptr) - abandoned_after;
  while (auto* name = folder.next_name()) {
    CachedFile file;
    bool unfinished = is_unfinished_name(name);
    if ((!unfinished && !is_cache_file_name(name)) || !folder.describe(name, file)) continue;
    if (unfinished && file.used.tv_sec < abandoned_before && folder.remove(file.name)) continue;
    total += file.size;
    files.push_back(std::move(file));
  }
  if (total <= limit) return;
  std::sort(files.begin(), files.end(), used_earlier);
  for (auto& file : files) {
    if (total <= limit / 10 * 9) return;
    folder.remove(file.name);
    total -= file.size;
  }
}

}  // namespace xpu

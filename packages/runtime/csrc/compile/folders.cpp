#include "compile/folders.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "process/env.h"
#include "xpu/cache.h"

namespace xpu {

bool is_writable_folder(const std::string& folder) {
  struct stat about;
  return !folder.empty() && stat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode) &&
         access(folder.c_str(), W_OK | X_OK) == 0;
}

std::string temporary_folder() {
  for (auto& folder : {env::text("TMPDIR"), env::text("TMP"), env::text("TEMP"), env::text("TEMPDIR"),
                       std::string("/tmp"), std::string("/var/tmp"), cache_folder()})
    if (is_writable_folder(folder)) return folder;
  return "";
}

std::string absolute_path(const std::string& path) {
  if (path.empty()) return "";
  std::error_code removed;  // the working directory is, so a relative path leads nowhere
  auto absolute = std::filesystem::absolute(path, removed);
  return removed ? path : absolute.string();
}

}  // namespace xpu

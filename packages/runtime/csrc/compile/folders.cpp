#include "compile/folders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "compile/dump.h"
#include "compile/sha256.h"
#include "process/env.h"
#include "xpu/cache.h"

namespace xpu {
namespace {

bool is_writable_folder(const std::string& folder) {
  struct stat about;
  return !folder.empty() && stat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode) &&
         access(folder.c_str(), W_OK | X_OK) == 0;
}

bool is_own_file(const std::string& path) {
  struct stat about;
  return lstat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid();
}

// The name has the digest of the text, so an existing file has it already.
bool write_new(const std::string& path, std::string_view text) {
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return errno == EEXIST && is_own_file(path);
  bool is_complete = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  if (!is_complete) unlink(path.c_str());
  return is_complete;
}

}  // namespace

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

std::string save_crash_source(std::string_view text, std::string_view suffix) {
  auto name = "/xpu-died-" + Sha256().add(text).hex().substr(0, 16) + std::string(suffix);
  for (auto& folder : {dump_folder(), cache_folder(), temporary_folder()})
    if (is_writable_folder(folder) && write_new(folder + name, text)) return folder + name;
  return "";
}

}  // namespace xpu

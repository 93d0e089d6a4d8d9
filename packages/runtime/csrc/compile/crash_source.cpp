#include "compile/crash_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "compile/dump.h"
#include "compile/folders.h"
#include "compile/sha256.h"
#include "xpu/cache.h"

namespace xpu {
namespace {

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

std::string save_crash_source(std::string_view text, std::string_view suffix) {
  auto name = "/xpu-died-" + Sha256().add(text).hex().substr(0, 16) + std::string(suffix);
  for (auto& folder : {dump_folder(), cache_folder(), temporary_folder()})
    if (is_writable_folder(folder) && write_new(folder + name, text)) return folder + name;
  return "";
}

}  // namespace xpu

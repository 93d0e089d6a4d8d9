#include "compile/stores/cache_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "compile/sha256.h"

namespace xpu {
namespace {

constexpr std::string_view magic = "XPUCACHE2\n", older_magic = "XPUCACHE1\n", part = ".part",
                           entry = ".entry";
// Of all versions: what others wrote is evicted too.
constexpr std::string_view any_magic = magic.substr(0, 8);
constexpr std::size_t max_kind_length = 16;
constexpr std::size_t digest_size = 32, head_size = magic.size() + digest_size;
constexpr std::string_view random_letters = ".XXXXXX";  // as mkostemps() takes them

class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  operator int() const { return descriptor_; }
  bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

  bool write(const void* data, std::size_t size) {
    for (auto* at = static_cast<const char*>(data); size > 0;) {
      auto written = ::write(descriptor_, at, size);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      at += written;
      size -= static_cast<std::size_t>(written);
    }
    return true;
  }

  /// Returns false if it cannot be read to its end.
  bool read(Bytes& all) {
    for (std::size_t used = 0;;) {
      if (used == all.size()) all.resize(all.size() + 65536);
      auto got = ::read(descriptor_, all.data() + used, all.size() - used);
      if (got < 0 && errno == EINTR) continue;
      if (got > 0) {
        used += static_cast<std::size_t>(got);
        continue;
      }
      all.resize(used);
      return got == 0;
    }
  }

 private:
  int descriptor_;
};

// With the name, which is the key: a file under the name of another is damaged.
Sha256::Digest digest_with_name(const std::string& path, const void* payload, std::size_t size) {
  return Sha256().add(path.substr(path.rfind('/') + 1)).add("\n").add(payload, size).digest();
}

bool is_sound(const std::string& path, const Bytes& all) {
  if (all.size() < head_size || std::memcmp(all.data(), magic.data(), magic.size()) != 0) return false;
  auto digest = digest_with_name(path, all.data() + head_size, all.size() - head_size);
  return std::memcmp(digest.data(), all.data() + magic.size(), digest_size) == 0;
}

bool is_of_older_version(const Bytes& all) {
  return all.size() >= head_size && std::memcmp(all.data(), older_magic.data(), older_magic.size()) == 0;
}

// Also replaces an empty folder of that name.
bool put_in_place(const std::string& written, const std::string& path) {
  auto rename = [&] { return std::rename(written.c_str(), path.c_str()) == 0; };
  return rename() || (errno == EISDIR && rmdir(path.c_str()) == 0 && rename());
}

}  // namespace

namespace {

// Those of kernels, and ".KIND.entry" of adapters.
bool is_cache_suffix(std::string_view suffix) {
  if (suffix == ".spv" || suffix == ".bin" || suffix == ".mark") return true;
  if (!suffix.starts_with('.') || !suffix.ends_with(entry) || suffix.size() <= entry.size() + 1) return false;
  auto kind = suffix.substr(1, suffix.size() - entry.size() - 1);
  auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return kind.size() <= max_kind_length && std::ranges::all_of(kind, is_letter);
}

}  // namespace

bool is_cache_file_name(std::string_view name) {
  constexpr std::size_t digits = 2 * digest_size;
  return name.size() > digits && name.substr(0, digits).find_first_not_of("0123456789abcdef") == name.npos &&
         is_cache_suffix(name.substr(digits));
}

bool is_unfinished_name(std::string_view name) {
  auto added = random_letters.size() + part.size();
  return name.size() > added && name.ends_with(part) && name[name.size() - added] == '.' &&
         is_cache_file_name(name.substr(0, name.size() - added));
}

bool has_cache_header(int file, bool unfinished) {
  char head[any_magic.size()];
  auto got = pread(file, head, sizeof head, 0);
  if (got < 0 || (!unfinished && static_cast<std::size_t>(got) < any_magic.size())) return false;
  return any_magic.starts_with(std::string_view(head, static_cast<std::size_t>(got)));
}

bool is_private_folder(const struct stat& about) {
  return S_ISDIR(about.st_mode) && about.st_uid == geteuid() && (about.st_mode & 022) == 0;
}

CacheFile read_cache_file(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would block.
  OpenFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file < 0) return {{}, errno == ELOOP ? "is a link to itself" : ""};
  struct stat about;
  if (fstat(file, &about) != 0) return {};
  if (!S_ISREG(about.st_mode)) return {{}, "is not a file"};
  if (about.st_uid != geteuid()) return {{}, "belongs to somebody else"};
  Bytes all(static_cast<std::size_t>(about.st_size) + 1);  // one byte more, so that one read() finds the end
  if (!file.read(all)) return {{}, "is damaged"};
  if (!is_sound(path, all)) return {{}, is_of_older_version(all) ? "" : "is damaged"};
  all.erase(all.begin(), all.begin() + head_size);
  return {std::move(all), ""};
}

int write_cache_file(const std::string& path, const Bytes& payload) {
  std::string beside = path;
  beside.append(random_letters).append(part);
  OpenFile file(mkostemps(beside.data(), static_cast<int>(part.size()), O_CLOEXEC));
  if (file < 0) return errno;
  auto digest = digest_with_name(path, payload.data(), payload.size());
  bool written = file.write(magic.data(), magic.size()) && file.write(digest.data(), digest.size()) &&
                 file.write(payload.data(), payload.size()) && file.close() && put_in_place(beside, path);
  if (written) return 0;
  int failed = errno == ENOTEMPTY ? EISDIR : errno;
  unlink(beside.c_str());
  return failed;
}

}  // namespace xpu

#include "xpu/process.h"

#include <link.h>

#include <climits>
#include <cstdlib>

#include "xpu/error.h"

namespace xpu {
namespace {

std::string real_path(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) ? resolved : path;
}

std::string file_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::vector<std::string> loaded_libraries(const std::string& prefix) {
  struct Search {
    const std::string& prefix;
    std::vector<std::string> found;
  } search{prefix, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        if (file_of(info->dlpi_name).rfind(s.prefix, 0) == 0) s.found.push_back(real_path(info->dlpi_name));
        return 0;
      },
      &search);
  return search.found;
}

std::string vendor_folder() {
  auto found = loaded_libraries("libsycl.so");
  expect<InternalError>(!found.empty(), "libsycl is not loaded, though this library links it");
  return found.front().substr(0, found.front().rfind('/'));
}

}  // namespace xpu

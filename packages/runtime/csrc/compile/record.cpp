#include "compile/record.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "env.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu {
namespace {

int open_record() {
  auto path = env::text("XPU_RECORD_KERNELS");
  if (path.empty()) return -1;
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) log(LogLevel::warning, join("cannot record kernels in ", path, ": ", std::strerror(errno)));
  return file;
}

}  // namespace

// Fields end with a NUL, which no source has, and a record with one more. One write() keeps records whole
// when several processes append.
void record_kernel(std::string_view source, const std::vector<std::string>& options, int sub_group_size) {
  static int file = open_record();
  if (file < 0) return;
  std::string record = std::to_string(sub_group_size);
  record.append(1, '\0').append(source).append(1, '\0');
  for (auto& option : options) record.append(option).append(1, '\0');
  record.append(1, '\0');
  if (write(file, record.data(), record.size()) != static_cast<ssize_t>(record.size()))
    log(LogLevel::warning, join("cannot record a kernel: ", std::strerror(errno)));
}

}  // namespace xpu

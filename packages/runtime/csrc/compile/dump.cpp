#include "compile/dump.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "compile/folders.h"
#include "process/env.h"
#include "process/immortal.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu {
namespace {

constexpr std::string_view list_prefix = "list:";

bool is_list(std::string_view setting) {
  return setting.starts_with(list_prefix);
}

std::string setting() {
  return env::text("XPU_DUMP_KERNELS");
}

int open_list() {
  if (!is_list(setting())) return -1;
  auto path = setting().substr(list_prefix.size());
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) log(LogLevel::warning, join("cannot list kernels in ", path, ": ", std::strerror(errno)));
  return file;
}

void dump(const std::string& file, const void* data, std::size_t size) {
  if (dump_folder().empty() || size == 0) return;
  std::ofstream(dump_folder() + "/" + file, std::ios::binary)
      .write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
}

}  // namespace

const std::string& dump_folder() {
  static auto& folder = leaked<std::string>(is_list(setting()) ? "" : absolute_path(setting()));
  return folder;
}

void dump_source(const std::string& name, std::string_view source) {
  dump(name + ".sycl", source.data(), source.size());
}

void dump_spirv(const std::string& name, const Bytes& spirv) {
  dump(name + ".spv", spirv.data(), spirv.size());
}

void dump_native(int device, const std::string& name, const Bytes& binary) {
  if (device_info(device).is_gpu) dump(name + ".bin", binary.data(), binary.size());
}

// Fields end with a NUL, which no source has, and a record with one more. One write() keeps records whole
// when several processes append.
void list_kernel(std::string_view source, const std::vector<std::string>& options, int sub_group_size) {
  static int file = open_list();
  if (file < 0) return;
  std::string record = std::to_string(sub_group_size);
  record.append(1, '\0').append(source).append(1, '\0');
  for (auto& option : options) record.append(option).append(1, '\0');
  record.append(1, '\0');
  if (write(file, record.data(), record.size()) != static_cast<ssize_t>(record.size()))
    log(LogLevel::warning, join("cannot list a kernel: ", std::strerror(errno)));
}

}  // namespace xpu

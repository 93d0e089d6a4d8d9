#include "compile/elsewhere.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "compile/builder.h"
#include "compile/messages.h"
#include "env.h"
#include "kept.h"
#include "startup.h"
#include "xpu/cache.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/log.h"

extern char** environ;

namespace xpu::elsewhere {
namespace {

constexpr int idle_milliseconds = 20'000;

std::string program() {
  static int here = 0;
  Dl_info info;
  if (!dladdr(&here, &info)) return "";
  return std::filesystem::path(info.dli_fname).parent_path() / "xpu-build-kernels";
}

/// This process's environment, with the cache that it uses.
std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry; ++entry)
    if (std::string_view(*entry).rfind("XPU_CACHE_DIR=", 0) != 0) all.emplace_back(*entry);
  all.push_back("XPU_CACHE_DIR=" + cache_folder());
  return all;
}

/// A socket to a new helper, or -1.
int start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDIN_FILENO);
  for (int output : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&files, output, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  auto path = program();
  auto variables = environment();
  std::vector<char*> arguments = {path.data(), nullptr}, pointers;
  for (auto& variable : variables) pointers.push_back(variable.data());
  pointers.push_back(nullptr);
  pid_t child;
  int failed = posix_spawn(&child, path.c_str(), &files, nullptr, arguments.data(), pointers.data());
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  // The helper leaves its own child behind and ends, so that it is nobody's to wait for.
  if (failed == 0) waitpid(child, nullptr, 0);
  if (failed == 0) return ends[0];
  log(LogLevel::debug, join("cannot start ", path, ": ", std::strerror(failed)));
  close(ends[0]);
  return -1;
}

class Helpers {
 public:
  Helpers() {
    auto cores = std::min(std::max(1u, std::thread::hardware_concurrency()), 9u);
    most_ = cache_folder().empty() ? 0 : env::number("XPU_BUILD_PROCESSES", cores - 1);
  }
  ~Helpers() {
    for (auto& helper : idle_) close(helper.socket);
  }

  bool any() const { return most_ > 0; }

  void expect() {
    std::lock_guard lock(mutex_);
    if (running_ > 0 || most_ == 0) return;
    if (int socket = start_counted(); socket >= 0) idle_.push_back({socket, false});
  }

  bool build(const Order& order) {
    // One that waited may have ended since: then the next is asked, and at last a new one.
    while (auto helper = take()) {
      bool told = send(helper->socket, order);
      auto done = told ? receive_answer(helper->socket) : std::nullopt;
      // What ends at its first order would do so again and again.
      if (told && !done && !helper->proven) most_ = 0;
      give(*helper, done.has_value());
      if (done) return *done;
    }
    return false;
  }

 private:
  struct Helper {
    int socket;
    bool proven;  ///< it has built something
  };

  std::optional<Helper> take() {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Helper helper = idle_.back();
      idle_.pop_back();
      return helper;
    }
    int socket = running_ < most_ ? start_counted() : -1;
    return socket < 0 ? std::nullopt : std::optional(Helper{socket, false});
  }

  int start_counted() {
    int socket = start();
    // What cannot be started is not tried for every kernel.
    if (socket < 0)
      most_ = 0;
    else
      ++running_;
    return socket;
  }

  void give(Helper helper, bool alive) {
    std::lock_guard lock(mutex_);
    if (alive) return idle_.push_back({helper.socket, true});
    close(helper.socket);
    --running_;
  }

  std::mutex mutex_;
  std::vector<Helper> idle_;
  std::size_t running_ = 0;
  std::atomic<std::size_t> most_;
};

Helpers& helpers() {
  static auto& all = kept<Helpers>();
  return all;
}

std::atomic<bool> building_here{false};

bool is_cpu_driver(int device) {
  auto& info = device_info(device);
  return info.backend == "opencl" && info.type == "cpu";
}

}  // namespace

Turn::Turn(int device) : here(true) {
  if (!is_cpu_driver(device) || !helpers().any()) return;
  here = counted_ = !building_here.exchange(true);
}

Turn::~Turn() {
  if (counted_) building_here = false;
}

bool build(int device, const std::string& flat, const std::vector<std::string>& options) {
  return helpers().build({device, flat, options});
}

void expect(int device) {
  if (is_cpu_driver(device)) helpers().expect();
}

void serve(int socket) {
  while (auto order = receive_order(socket, idle_milliseconds)) {
    bool done = true;
    try {
      Builder(order->device, std::move(order->flat), std::move(order->options)).build();
    } catch (const std::exception&) {
      done = false;
    }
    if (!send(socket, done)) return;
  }
}

}  // namespace xpu::elsewhere

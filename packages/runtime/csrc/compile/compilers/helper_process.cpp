#include "compile/compilers/helper_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "process/interrupt.h"
#include "process/thread_registry.h"
#include "xpu/cache.h"
#include "xpu/error.h"
#include "xpu/log.h"

extern char** environ;

namespace xpu::build_service {
namespace {

std::string program() {
  static int here = 0;
  Dl_info info;
  if (!dladdr(&here, &info)) return "";
  return std::filesystem::path(info.dli_fname).parent_path() / "xpu-build-kernels";
}

/// This process's environment, changed so that the helper starts no helpers of its own, and finds the cache
/// also if its path is relative.
std::vector<std::string> environment() {
  std::vector<std::string> all = {"XPU_BUILD_PROCESSES=0"};
  if (!cache_folder().empty()) all.push_back("XPU_CACHE_DIR=" + cache_folder());
  auto is_set = [&](std::string_view entry) {
    return std::ranges::any_of(
        all, [&](std::string_view set) { return entry.starts_with(set.substr(0, set.find('=') + 1)); });
  };
  std::vector<std::string> others;
  for (char** entry = environ; *entry; ++entry)
    if (!is_set(*entry)) others.emplace_back(*entry);
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

/// A pair of file descriptors that are closed with it, and in programs that are started.
struct Ends {
  int ours = -1, theirs = -1;
  ~Ends() {
    if (theirs >= 0) close(theirs);
    if (ours >= 0) close(ours);
  }
  int release() { return std::exchange(ours, -1); }
};

/// Blocks until a child has ended; returns at once if there is no such child.
void wait_for_child(pid_t child) {
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// Waits in the background for a helper whose parent this process has become, as PID 1 of a container or as a
/// subreaper: nobody else would, and it would stay as a zombie.
void wait_if_adopted(int exit_pipe) {
  // xpu-build-kernels has written the helper's pid before it exited.
  pollfd readable{exit_pipe, POLLIN, 0};
  pid_t helper;
  if (poll(&readable, 1, 0) != 1 || read(exit_pipe, &helper, sizeof helper) != sizeof helper) return;
  if (waitpid(helper, nullptr, WNOHANG) != 0) return;
  try {
    std::thread([helper] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, nullptr);
      wait_for_child(helper);
    }).detach();
  } catch (const std::system_error& e) {
    log(LogLevel::debug, join("no thread waits for the helper process ", helper, ": ", e.what()));
  }
}

/// Starts the helper with no signal ignored or blocked: it must be able to wait for the process that builds.
posix_spawnattr_t* default_signals() {
  static auto* attributes = [] {
    auto* made = new posix_spawnattr_t;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(made);
    posix_spawnattr_setsigdefault(made, &all);
    posix_spawnattr_setsigmask(made, &none);
    posix_spawnattr_setflags(made, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    return made;
  }();
  return attributes;
}

int spawn(int socket, int exit_pipe, Priority priority) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, exit_pipe, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  auto path = program();
  auto variables = environment();
  std::string low = "--low-priority";
  std::vector<char*> arguments = {path.data(), priority == Priority::low ? low.data() : nullptr, nullptr};
  std::vector<char*> pointers;
  for (auto& variable : variables) pointers.push_back(variable.data());
  pointers.push_back(nullptr);
  pid_t child;
  int failed =
      posix_spawn(&child, path.c_str(), &files, default_signals(), arguments.data(), pointers.data());
  posix_spawn_file_actions_destroy(&files);
  // The program forks the helper and exits at once, so that nobody must wait for the helper.
  if (failed == 0) wait_for_child(child);
  return failed;
}

}  // namespace

std::unique_ptr<HelperProcess> HelperProcess::start(Priority priority) {
  Ends messages, exit_pipe;
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return nullptr;
  messages.ours = pair[0], messages.theirs = pair[1];
  if (pipe2(pair, O_CLOEXEC) != 0) return nullptr;
  exit_pipe.ours = pair[0], exit_pipe.theirs = pair[1];
  int failed = spawn(messages.theirs, exit_pipe.theirs, priority);
  if (failed == 0) {
    wait_if_adopted(exit_pipe.ours);
    return std::make_unique<HelperProcess>(messages.release(), exit_pipe.release());
  }
  log(LogLevel::debug, join("cannot start ", program(), ": ", std::strerror(failed)));
  return nullptr;
}

HelperProcess::~HelperProcess() {
  close(socket_);
  close(exit_pipe_);
}

HelperProcess::Reply HelperProcess::ask(const BuildRequest& request) {
  thread_registry::BlockingScope blocking;
  bool sent = send(socket_, request);
  if (!ready_) {
    wait_for_message();
    ready_ = receive_ready(socket_);
  }
  if (!ready_) return {Status::never_ready, {}, ""};
  if (!sent) return {Status::exited_idle, {}, ""};
  wait_for_message();
  if (auto response = receive_response(socket_)) return {Status::answered, std::move(*response), ""};
  auto status = Status::crashed;
  auto description = describe_exit(status);
  return {status, {}, description};
}

void HelperProcess::wait_for_message() const {
  pollfd message{socket_, POLLIN, 0};
  while (poll(&message, 1, interrupt::check_interval.count()) <= 0) interrupt::check_operation();
}

std::string HelperProcess::describe_exit(Status& how) const {
  std::string all;
  char part[4096];
  for (ssize_t got; (got = read(exit_pipe_, part, sizeof part)) != 0;) {
    if (got < 0 && errno != EINTR) break;
    if (got > 0) all.append(part, static_cast<std::size_t>(got));
  }
  int status = 0;
  if (all.size() < sizeof status) return "for an unknown reason";
  std::memcpy(&status, all.data(), sizeof status);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) how = Status::exited_idle;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) how = Status::timed_out;
  std::string output = all.substr(sizeof status);
  if (!output.empty()) output = "\nThe end of its output:\n" + output;
  if (!WIFSIGNALED(status)) return join("with exit code ", WEXITSTATUS(status), output);
  return join("with signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")", output);
}

}  // namespace xpu::build_service

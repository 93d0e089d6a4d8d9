#include "compile/helper_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "interrupt.h"
#include "using_threads.h"
#include "xpu/error.h"
#include "xpu/log.h"

extern char** environ;

namespace xpu::elsewhere {
namespace {

std::string program() {
  static int here = 0;
  Dl_info info;
  if (!dladdr(&here, &info)) return "";
  return std::filesystem::path(info.dli_fname).parent_path() / "xpu-build-kernels";
}

/// This process's environment, but that it starts no helpers of its own.
std::vector<std::string> environment() {
  std::vector<std::string> all = {"XPU_BUILD_PROCESSES=0"};
  for (char** entry = environ; *entry; ++entry)
    if (!std::string_view(*entry).starts_with("XPU_BUILD_PROCESSES=")) all.emplace_back(*entry);
  return all;
}

/// Both ends close when a program is started, but for those the program is given.
struct Ends {
  int ours = -1, theirs = -1;
  ~Ends() {
    if (theirs >= 0) close(theirs);
    if (ours >= 0) close(ours);
  }
  int keep() { return std::exchange(ours, -1); }
};

int spawn(int socket, int end) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, end, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  auto path = program();
  auto variables = environment();
  std::vector<char*> arguments = {path.data(), nullptr}, pointers;
  for (auto& variable : variables) pointers.push_back(variable.data());
  pointers.push_back(nullptr);
  pid_t child;
  int failed = posix_spawn(&child, path.c_str(), &files, nullptr, arguments.data(), pointers.data());
  posix_spawn_file_actions_destroy(&files);
  // The helper leaves its own child behind and ends, so that it is nobody's to wait for.
  if (failed == 0) waitpid(child, nullptr, 0);
  return failed;
}

}  // namespace

std::unique_ptr<HelperProcess> HelperProcess::start() {
  Ends talk, end;
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return nullptr;
  talk.ours = pair[0], talk.theirs = pair[1];
  if (pipe2(pair, O_CLOEXEC) != 0) return nullptr;
  end.ours = pair[0], end.theirs = pair[1];
  int failed = spawn(talk.theirs, end.theirs);
  if (failed == 0) return std::make_unique<HelperProcess>(talk.keep(), end.keep());
  log(LogLevel::debug, join("cannot start ", program(), ": ", std::strerror(failed)));
  return nullptr;
}

HelperProcess::~HelperProcess() {
  close(socket_);
  close(end_);
}

HelperProcess::Reply HelperProcess::ask(const Order& order) {
  using_threads::Wait wait;
  bool told = send(socket_, order);
  if (!ready_) {
    wait_for_message();
    ready_ = receive_ready(socket_);
  }
  if (!ready_) return {Fate::unusable, {}, ""};
  if (!told) return {Fate::idle, {}, ""};
  wait_for_message();
  if (auto answer = receive_answer(socket_)) return {Fate::answered, std::move(*answer), ""};
  bool by_itself = false;
  auto how = how_it_ended(by_itself);
  return {by_itself ? Fate::idle : Fate::died, {}, how};
}

void HelperProcess::wait_for_message() const {
  pollfd message{socket_, POLLIN, 0};
  while (poll(&message, 1, interrupt::check_interval.count()) <= 0) interrupt::check_operation();
}

std::string HelperProcess::how_it_ended(bool& by_itself) const {
  std::string all;
  char part[4096];
  for (ssize_t got; (got = read(end_, part, sizeof part)) != 0;) {
    if (got < 0 && errno != EINTR) break;
    if (got > 0) all.append(part, static_cast<std::size_t>(got));
  }
  int status = 0;
  if (all.size() < sizeof status) return "for a reason that nobody saw";
  std::memcpy(&status, all.data(), sizeof status);
  by_itself = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  std::string words = all.substr(sizeof status);
  if (!words.empty()) words = "\nIts last words:\n" + words;
  if (!WIFSIGNALED(status)) return join("with exit code ", WEXITSTATUS(status), words);
  auto* name = sigabbrev_np(WTERMSIG(status));
  return join("with signal ", WTERMSIG(status), name ? join(" (SIG", name, ")") : "", words);
}

}  // namespace xpu::elsewhere

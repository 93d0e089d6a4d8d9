// The helper's side: one process builds. Another waits for it and reports how it exited, or kills it when the
// program has ended or wants no answer.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iterator>
#include <new>

#include "compile/compilers/build_service.h"
#include "compile/compilers/messages.h"
#include "compile/program/backend.h"
#include "compile/source/math_library.h"
#include "xpu/build_time.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu::build_service {
namespace {

constexpr int idle_timeout_ms = 20'000;
constexpr std::size_t max_tail_bytes = 2000;

BuildResponse build_here(const BuildInput& input) {
  using Outcome = BuildResponse::Outcome;
  try {
    if (input.source.empty())
      return {Outcome::built, "", {}, load_spirv(input.device, input.spirv)->native()};
    link_math_library(may_call_math_library(input.source));
    auto compiled = compile_source(input.device, input.source, input.options);
    return {Outcome::built, "", std::move(compiled.spirv), compiled.program->native()};
  } catch (const CompileError& error) {
    return {Outcome::compile_error, error.what(), {}, {}};
  } catch (const OutOfResources& error) {
    return {Outcome::out_of_resources, error.what(), {}, {}};
  } catch (const OutOfMemory& error) {
    return {Outcome::out_of_memory, error.what(), {}, {}};
  } catch (const Unsupported& error) {
    return {Outcome::unsupported, error.what(), {}, {}};
  } catch (const std::exception& error) {
    return {Outcome::failed, error.what(), {}, {}};
  }
}

// Does nothing if there is no such folder any more: only relative paths in options need it.
void enter(const std::string& folder) {
  if (chdir(folder.c_str()) != 0) errno = 0;
}

void start_timer(std::chrono::milliseconds time) {
  itimerval timer{};
  timer.it_value.tv_sec = time.count() / 1000;
  timer.it_value.tv_usec = time.count() % 1000 * 1000;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// The timer's signal ends the process, which may have inherited another setting.
void let_timer_end_process() {
  std::signal(SIGALRM, SIG_DFL);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
}

// Between builds no folder is in use, so that a file system can be unmounted.
void serve_requests(int socket) {
  let_timer_end_process();
  start_timer(build_time_limit());  // a driver may not return either
  if (device_count() == 0 || !send_ready(socket)) return;
  enter("/");
  prepare_compiler();
  start_timer({});
  while (auto request = receive_request(socket, idle_timeout_ms)) {
    enter(request->working_folder);
    start_timer(request->time_limit);
    auto response = build_here(request->input);
    start_timer({});
    enter("/");
    if (!send(socket, response)) return;
  }
}

void write_all(int file, const void* data, std::size_t size) {
  for (auto* at = static_cast<const char*>(data); size > 0;) {
    auto written = write(file, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
}

// Reads the worker's output to its end and returns at most its last 2,000 bytes. Kills the worker if the
// program ends or closes its socket: nobody then receives what is built, and a compiler may never end.
std::string watch(pid_t worker, int output, int socket, int program) {
  std::string tail;
  char part[4096];
  pollfd watched[] = {{output, POLLIN, 0}, {socket, 0, 0}, {program, POLLIN, 0}};
  while (true) {
    if (poll(watched, std::size(watched), -1) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    if (watched[1].revents != 0 || watched[2].revents != 0) {
      kill(worker, SIGKILL);
      break;
    }
    if (watched[0].revents == 0) continue;
    auto got = read(output, part, sizeof part);
    if (got == 0 || (got < 0 && errno != EINTR)) break;
    if (got > 0) tail.append(part, static_cast<std::size_t>(got));
    if (tail.size() > max_tail_bytes) tail.erase(0, tail.size() - max_tail_bytes);
  }
  return tail;
}

}  // namespace

void serve(int socket, int exit_pipe, int program) {
  int output[2];
  if (pipe2(output, O_CLOEXEC) != 0) return;
  pid_t worker = fork();
  if (worker < 0) return;
  if (worker == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // with the process that watches it
    if (program >= 0) close(program);
    dup2(output[1], STDERR_FILENO);
    close(output[0]);
    close(output[1]);
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nothing, exit_pipe);  // replaces stdout: what the compiler prints must not go to the pipe
    close(nothing);
    serve_requests(socket);
    // Without the exit handlers of drivers, which have nothing to do here.
    _exit(0);
  }
  prctl(PR_SET_NAME, "xpu-watch-build");
  enter("/");
  close(output[1]);
  auto tail = watch(worker, output[0], socket, program);
  int status = 0;
  while (waitpid(worker, &status, 0) < 0 && errno == EINTR) {
  }
  write_all(exit_pipe, &status, sizeof status);
  write_all(exit_pipe, tail.data(), tail.size());
}

}  // namespace xpu::build_service

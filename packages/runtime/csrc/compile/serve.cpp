// The helpers' side: one process builds, and one waits for its end, to tell how it came.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "compile/elsewhere.h"
#include "compile/messages.h"
#include "compile/program.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu::elsewhere {
namespace {

constexpr int idle_milliseconds = 20'000;
constexpr std::size_t most_words = 2000;

Answer made_of(const Order& order) {
  using Outcome = Answer::Outcome;
  try {
    if (order.source.empty())
      return {Outcome::built, "", {}, load_spirv(order.device, order.spirv)->native()};
    auto compiled = compile_source(order.device, order.source, order.options);
    return {Outcome::built, "", std::move(compiled.spirv), compiled.program->native()};
  } catch (const CompileError& error) {
    return {Outcome::compile_error, error.what(), {}, {}};
  } catch (const OutOfMemory& error) {
    return {Outcome::out_of_memory, error.what(), {}, {}};
  } catch (const Unsupported& error) {
    return {Outcome::unsupported, error.what(), {}, {}};
  } catch (const std::exception& error) {
    return {Outcome::failed, error.what(), {}, {}};
  }
}

void work(int socket) {
  if (device_count() == 0 || !send_ready(socket)) return;
  prepare_compiler();
  while (auto order = receive_order(socket, idle_milliseconds))
    if (!send(socket, made_of(*order))) return;
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

// What is written until nobody can write any more; only its end is kept.
std::string last_words(int file) {
  std::string words;
  char part[4096];
  for (ssize_t got; (got = read(file, part, sizeof part)) != 0;) {
    if (got < 0 && errno != EINTR) break;
    if (got > 0) words.append(part, static_cast<std::size_t>(got));
    if (words.size() > most_words) words.erase(0, words.size() - most_words);
  }
  return words;
}

}  // namespace

void serve(int socket, int end) {
  int words[2];
  if (pipe2(words, O_CLOEXEC) != 0) return;
  pid_t worker = fork();
  if (worker < 0) return;
  if (worker == 0) {
    dup2(words[1], STDERR_FILENO);
    close(words[0]);
    close(words[1]);
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nothing, end);  // what the compiler prints is not for the one who waits for the end
    close(nothing);
    work(socket);
    // Drivers have nothing to put in order at the end of this one.
    _exit(0);
  }
  prctl(PR_SET_NAME, "xpu-watch-build");
  close(words[1]);
  close(socket);
  auto said = last_words(words[0]);
  int status = 0;
  while (waitpid(worker, &status, 0) < 0 && errno == EINTR) {
  }
  write_all(end, &status, sizeof status);
  write_all(end, said.data(), said.size());
}

}  // namespace xpu::elsewhere

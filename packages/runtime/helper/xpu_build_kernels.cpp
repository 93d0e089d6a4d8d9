// Builds kernels for the process that started it, which sends requests to its standard input and reads from
// its standard output which process serves and how that exited; see csrc/compile/compilers/build_service.h.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "compile/compilers/build_service.h"

int main(int count, char**) {
  // Readable once the program has ended. Old kernels have none: its socket then tells the end, unless a child
  // that the program forked holds it open.
  int program = static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0));
  // Detached, in a session of its own, so that Ctrl-C in a terminal does not reach it.
  if (pid_t server = fork()) {
    bool told = server > 0 && write(STDOUT_FILENO, &server, sizeof server) == sizeof server;
    _exit(told ? 0 : 1);
  }
  setsid();
  constexpr int less_urgent = 5;
  // The only argument is --low-priority. The system may refuse, which changes no result.
  if (count > 1 && nice(less_urgent) == -1) errno = 0;
  xpu::build_service::serve(STDIN_FILENO, STDOUT_FILENO, program);
  _exit(0);
}

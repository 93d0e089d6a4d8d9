// Builds kernels for the process that started it, which sends requests to its standard input and reads from
// its standard output how it exited; see csrc/compile/build_service.h.
#include <unistd.h>

#include <cerrno>

#include "compile/build_service.h"

int main(int count, char**) {
  // Detached, in a session of its own, so that Ctrl-C in a terminal does not reach it.
  if (fork() != 0) _exit(0);
  setsid();
  constexpr int less_urgent = 5;
  // The only argument is --low-priority. The system may refuse, which changes no result.
  if (count > 1 && nice(less_urgent) == -1) errno = 0;
  xpu::build_service::serve(STDIN_FILENO, STDOUT_FILENO);
  _exit(0);
}

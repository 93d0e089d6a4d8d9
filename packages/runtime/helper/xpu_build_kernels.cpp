// Builds kernels for the process that started it, which sends requests to its standard input and reads from
// its standard output how it exited; see csrc/compile/build_service.h.
#include <unistd.h>

#include "compile/build_service.h"

int main() {
  // Detached, in a session of its own, so that Ctrl-C in a terminal does not reach it.
  if (fork() != 0) _exit(0);
  setsid();
  xpu::build_service::serve(STDIN_FILENO, STDOUT_FILENO);
  _exit(0);
}

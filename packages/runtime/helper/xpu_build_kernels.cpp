// Builds kernels for another process, which started it, talks to it through its input and reads from its
// output how it ended; see csrc/compile/elsewhere.h.
#include <unistd.h>

#include "compile/elsewhere.h"

int main() {
  // A child of nobody's, in a session of its own: keys pressed in a terminal are not for it.
  if (fork() != 0) _exit(0);
  setsid();
  xpu::elsewhere::serve(STDIN_FILENO, STDOUT_FILENO);
  _exit(0);
}

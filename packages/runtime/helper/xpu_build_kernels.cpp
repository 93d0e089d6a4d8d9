// Builds kernels for another process, which started it and talks to it through its input; see
// csrc/compile/elsewhere.h.
#include <unistd.h>

#include "compile/elsewhere.h"

int main() {
  // A child of nobody's, in a session of its own: keys pressed in a terminal are not for it.
  if (fork() != 0) _exit(0);
  setsid();
  xpu::elsewhere::serve(STDIN_FILENO);
  // Drivers have nothing to put in order at the end of this one.
  _exit(0);
}

// The end of the process: what is queued ends before the libraries that compute it are taken down.
//
// exit() first takes down what the thread that calls it has for itself, then what was registered, last first,
// a library's static objects as if they had been registered when they were made. So the main thread waits
// when it is taken down. For an exit() on another thread the wait is registered anew whenever libraries were
// loaded that work may need: the drivers, the compiler, oneDNN.
#pragma once

namespace xpu::exit {

/// Makes the wait come before the end of every library loaded so far.
void wait_before_loaded_libraries();

}  // namespace xpu::exit

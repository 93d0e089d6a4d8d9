// Shutdown: device work completes before exit() destroys the libraries that compute it.
//
// exit() first destroys the calling thread's thread_local objects, then runs the registered handlers in
// reverse order; a library's static objects count as registered when they were made. So the main thread waits
// in a thread_local destructor. For an exit() on another thread the handler is registered again whenever
// libraries that work may need were loaded: drivers, the compiler, oneDNN.
#pragma once

namespace xpu::shutdown {

/// Makes the wait for the devices run before the libraries loaded so far are destroyed. Thread-safe.
void reregister_exit_handler();

}  // namespace xpu::shutdown

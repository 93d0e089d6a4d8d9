// Checks and state of the process: drivers are found before SYCL is first used; forks and shutdown end its
// use.
//
// Every function is thread-safe. Checks cost one load where nothing is wrong.
#pragma once

namespace xpu::startup {

/// The text of ShuttingDown. A framework's error that stands for it contains this text too.
inline constexpr char refusal[] = "the process is shutting down, so its devices accept no more work";

/// Lets the loaders find the drivers of the vendor wheels. Has an effect once in a process.
/// Throws UsageError if two SYCL runtimes are loaded.
void prepare();
/// Throws DeviceError in a child that was forked after the devices were used. Never blocks.
void require_not_forked();
/// Call before using a device or its memory for a program, and after waiting for it. Throws DeviceError in a
/// forked child. During shutdown it calls the hook that refuses other threads, which throws or never returns.
/// Records that the calling thread is active.
void require_thread_allowed();
/// Call before enqueuing work: as require_thread_allowed(), and throws DeviceError after shutdown.
void require_usable();
/// Throws DeviceError once the devices accept no more work. Never blocks, so it may be called under a stream
/// lock.
void require_running();
/// Call when the devices have been found: forks are noticed from then on.
void mark_initialized();
bool is_initialized();
/// True in a child that was forked after mark_initialized().
bool is_forked();
/// From now on require_thread_allowed() calls `refuse` on every thread but this one.
void mark_shutdown_begun(void (*refuse)());
/// True between mark_shutdown_begun() and mark_shutdown_done().
bool is_shutting_down();
/// From now on require_running() throws: the devices accept no more work.
void mark_shutdown_done();
/// True if objects of the devices must not be destroyed any more: their locks may be held by threads that are
/// gone.
bool is_forked_or_shut_down();

}  // namespace xpu::startup

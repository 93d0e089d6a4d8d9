// What must hold in the process before SYCL is first used, and what must not.
#pragma once

namespace xpu::startup {

/// Makes the drivers of the vendor wheels discoverable from inside the process; runs once, from any entry.
/// Throws UsageError when two SYCL runtimes are loaded.
void prepare();
/// Throws DeviceError in a child forked after the device stack was used. Costs one load.
void require_not_forked();
/// The same, and while the process shuts down the work of Python's other threads is refused: who is about to
/// use the device or its memory on behalf of a program, or has waited for it, asks here. Notes that the
/// thread is active.
void require_thread();
/// The same once the process has ended: what queues work asks here.
void require_usable();
/// Called once devices exist, so that a later fork is noticed.
void mark_initialized();
bool initialized();
/// True in a child forked after that.
bool forked();
/// The last of these alone: never waits.
void require_not_ended();
/// From here on, require_thread() calls `refuse` on other threads than this one.
void mark_ending(void (*refuse)());
/// True from then on.
bool is_ending();
/// No work reaches a device from here on.
void mark_ended();
/// In a forked child, or once the process has ended: what lives on the devices is not to be given back.
bool unusable();

}  // namespace xpu::startup

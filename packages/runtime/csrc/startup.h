// What must hold in the process before SYCL is first used, and what must not.
#pragma once

namespace xpu::startup {

/// Makes the drivers of the vendor wheels discoverable from inside the process; runs once, from any entry.
/// Throws UsageError when two SYCL runtimes are loaded.
void prepare();
/// Throws DeviceError in a child forked after the device stack was used. Costs one load.
void require_not_forked();
/// Called once devices exist, so that a later fork is noticed.
void mark_initialized();
bool initialized();
/// True in a child forked after that.
bool forked();

}  // namespace xpu::startup

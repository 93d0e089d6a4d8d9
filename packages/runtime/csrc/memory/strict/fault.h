// Reports an access to closed strict memory, and ends the process.
#pragma once

#include <cstdint>

namespace xpu::strict {

struct Allocation;

/// Handles SIGSEGV and SIGBUS; faults at other addresses go to the handler that was installed before. Call it
/// often: drivers and language runtimes install handlers of their own at any time. Does nothing if installed.
void install_fault_handler();
/// Reports an overwrite of the canary, which is found when the memory is freed. `before`: it is ahead of the
/// allocation, not behind it.
[[noreturn]] void abort_on_overwrite(const Allocation& allocation, std::uint64_t serial, bool before);

}  // namespace xpu::strict

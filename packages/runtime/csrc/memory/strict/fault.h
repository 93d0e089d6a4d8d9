// The message, and the end, of what touches closed strict memory.
#pragma once

#include <cstdint>

namespace xpu::strict {

struct Allocation;

/// Takes SIGSEGV and SIGBUS, unless it has them; faults at other addresses go on to the handler that was
/// there. Called again and again, because drivers and languages install handlers of their own at any time.
void install_fault_handler();
/// For overwrites found when the memory is freed.
[[noreturn]] void die_of_overwrite(const Allocation& allocation, std::uint64_t serial, bool before);

}  // namespace xpu::strict

// Work that programs leave to the host is counted, so that nobody need guess where it runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

namespace xla_xpu {

/// How often the function of this name was called. Lives for ever.
std::atomic<std::uint64_t>& host_calls_of(const std::string& name);

/// Those that were called, by name.
std::map<std::string, std::uint64_t> host_calls();

}  // namespace xla_xpu

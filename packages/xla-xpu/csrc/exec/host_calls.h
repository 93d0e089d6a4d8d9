// Counts calls of host functions, so that users can see which work does not run on the device. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

namespace xla_xpu {

/// Returns the number of calls of a function; the reference is valid for ever.
std::atomic<std::uint64_t>& host_calls_of(const std::string& name);

/// Returns the counts that are not 0, by name.
std::map<std::string, std::uint64_t> host_calls();

}  // namespace xla_xpu

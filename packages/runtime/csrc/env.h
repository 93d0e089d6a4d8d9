// Environment variables, all of which src/xpu_runtime/env.toml lists with type, default and meaning.
#pragma once

#include <cstdint>
#include <string>

namespace xpu::env {

/// "1" is true, "0", "" and unset are false; anything else throws UsageError.
bool flag(const char* name);
/// Throws UsageError for what is not a whole number >= 0. Suffixes K, M, G are powers of 1024.
std::uint64_t number(const char* name, std::uint64_t otherwise);
std::string text(const char* name, const char* otherwise = "");

}  // namespace xpu::env

// Environment variables. src/xpu_runtime/env.toml lists all of them with type, default and meaning.
#pragma once

#include <cstdint>
#include <string>

namespace xpu::env {

/// True for "1", false for "0"; `fallback` for "" and unset. Throws UsageError for anything else.
bool flag(const char* name, bool fallback = false);
/// A whole number >= 0; suffixes K, M, G are powers of 1024. Throws UsageError for anything else.
std::uint64_t number(const char* name, std::uint64_t fallback);
std::string text(const char* name, const char* fallback = "");

}  // namespace xpu::env

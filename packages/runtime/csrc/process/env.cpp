#include "process/env.h"

#include <cstdlib>
#include <cstring>

#include "xpu/error.h"

namespace xpu::env {

bool flag(const char* name, bool fallback) {
  const char* value = std::getenv(name);
  if (!value || !*value) return fallback;
  if (!std::strcmp(value, "0")) return false;
  expect<UsageError>(!std::strcmp(value, "1"), "environment variable ", name, ": got \"", value,
                     "\", expected 0 or 1");
  return true;
}

std::uint64_t number(const char* name, std::uint64_t fallback) {
  const char* value = std::getenv(name);
  if (!value || !*value) return fallback;
  char* end = nullptr;
  std::uint64_t result = std::strtoull(value, &end, 10);
  int shift = 0;
  if (*end == 'K')
    shift = 10, ++end;
  else if (*end == 'M')
    shift = 20, ++end;
  else if (*end == 'G')
    shift = 30, ++end;
  expect<UsageError>(end != value && *end == 0 && *value != '-', "environment variable ", name, ": got \"",
                     value, "\", expected a whole number, which may end in K, M or G");
  return result << shift;
}

std::string text(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value && *value ? value : fallback;
}

}  // namespace xpu::env

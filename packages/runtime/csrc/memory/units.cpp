#include "memory/units.h"

#include <cstdio>

namespace xpu::memory {

std::string format_bytes(std::uint64_t bytes) {
  static constexpr const char* names[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  double value = static_cast<double>(bytes) / 1024;
  int unit = 0;
  for (; value >= 1024 && unit < 3; ++unit) value /= 1024;
  char text[64];
  std::snprintf(text, sizeof text, "%.2f %s (%llu bytes)", value, names[unit],
                static_cast<unsigned long long>(bytes));
  return text;
}

}  // namespace xpu::memory

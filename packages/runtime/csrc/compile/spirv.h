// Kernels' parameters from a SPIR-V module.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "xpu/cache.h"

namespace xpu {

struct Parameter {
  std::uint32_t size;  ///< in bytes; 0 for local memory and images, which no launch passes
  bool pointer;
};

/// By the kernels' names in the module.
using Signatures = std::map<std::string, std::vector<Parameter>>;

/// Throws UsageError unless it is a complete module with kernels, because drivers do not check that.
Signatures read_signatures(const Bytes& spirv);

}  // namespace xpu

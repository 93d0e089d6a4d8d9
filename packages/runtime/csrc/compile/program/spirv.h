// Kernels' parameters and local memory from a SPIR-V module.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "xpu/cache.h"

namespace xpu {

struct Parameter {
  std::uint32_t size;  ///< in bytes; 0 for local memory and images, which no launch passes
  bool pointer;
};

struct Signature {
  std::vector<Parameter> parameters;
  std::optional<std::uint64_t> local_bytes;  ///< of a work-group; nullopt if the image does not tell
};

/// By the kernels' names in the module.
using Signatures = std::map<std::string, Signature>;

/// Throws UsageError unless it is a complete module with kernels, because drivers do not check that.
Signatures read_signatures(const Bytes& spirv);

}  // namespace xpu

// What a SPIR-V module says of its kernels.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "xpu/cache.h"

namespace xpu {

struct Parameter {
  std::uint32_t size;  ///< in bytes; 0 for what no launch here gives: local memory, images
  bool pointer;
};

/// By the kernels' names, as the module has them.
using Signatures = std::map<std::string, std::vector<Parameter>>;

/// Throws UsageError for what is no whole module with kernels: drivers trust what they are given.
Signatures read_signatures(const Bytes& spirv);

}  // namespace xpu

// SPIR-V that ships with the library, of kernels that programs meet first.
#pragma once

#include <optional>
#include <vector>

#include "compile/sha256.h"
#include "xpu/cache.h"

namespace xpu::ready_kernels {

/// Returns the SPIR-V that Builder::ready_key() names, if it ships. A damaged file is a miss and one warning.
std::optional<Bytes> find(const Sha256::Digest& key);
/// Returns the SPIR-V of all kernels that ship for a device.
std::vector<Bytes> of_device(int device);

}  // namespace xpu::ready_kernels

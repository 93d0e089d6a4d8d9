// SPIR-V that ships with the library, of kernels that programs meet first.
#pragma once

#include <optional>

#include "compile/sha256.h"
#include "xpu/cache.h"

namespace xpu::ready_kernels {

/// Returns the SPIR-V that Builder::ready_key() names. The file is opened by the first call.
std::optional<Bytes> find(const Sha256::Digest& key);

}  // namespace xpu::ready_kernels

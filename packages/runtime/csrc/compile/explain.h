// Why a kernel is built, or is not: what each store answers.
#pragma once

#include <string>
#include <vector>

#include "compile/build_input.h"
#include "compile/keys.h"
#include "xpu/cache.h"

namespace xpu {

/// Asks the stores for the SPIR-V of a source and, if one has it, for its native code.
std::vector<StoreAnswer> explain(BuildInput source);
/// One line on what the stores lack, for the log.
std::string missing(const Key& key);

}  // namespace xpu

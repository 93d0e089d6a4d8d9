// The target that SYCL's image of a program (SYCLBIN) names.
#pragma once

#include "xpu/cache.h"

namespace xpu {

/// Renames targets that SYCL's writer uses and its loader does not know: llvm_nvptx64-unknown-unknown, of
/// programs that this process compiled for CUDA, becomes nvptx64. So it does for every name that begins with
/// llvm_. Other images stay as they are.
void name_loadable_target(Bytes& syclbin);

}  // namespace xpu

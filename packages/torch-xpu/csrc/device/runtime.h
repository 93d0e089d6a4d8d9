// The runtime of xpu-sdk as the bridge knows it.
#pragma once

#include "bridge/runtime.h"

namespace torch_xpu {

TORCH_XPU_PUBLIC Runtime& sycl_runtime();

}  // namespace torch_xpu

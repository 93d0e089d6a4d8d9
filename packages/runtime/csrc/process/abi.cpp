#include "xpu/abi.h"

#include "xpu/error.h"

namespace xpu {

int abi() {
  return XPU_RUNTIME_ABI;
}

void require_abi(int built_with, const char* who) {
  expect<UsageError>(built_with == XPU_RUNTIME_ABI, who, " was built against ABI ", built_with,
                     " of xpu-runtime, but the installed xpu-runtime has ABI ", XPU_RUNTIME_ABI,
                     ". Install versions that belong together: pip install --upgrade xpu-sdk");
}

}  // namespace xpu

// Names of memory owners, at fixed addresses.
#pragma once

#include "xpu/memory.h"

namespace xpu::memory {

/// Valid for the life of the process.
const char* owner_text(Owner owner);

}  // namespace xpu::memory

// What JAX creates to use the platform. It owns nothing: see platform.h.
#pragma once

#include "pjrt/platform.h"

struct PJRT_Client {
  xla_xpu::Platform& platform = xla_xpu::Platform::get();
};

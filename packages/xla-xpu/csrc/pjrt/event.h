// A moment that JAX holds.
#pragma once

#include <memory>

#include "pjrt/moment.h"

struct PJRT_Event {
  std::shared_ptr<xla_xpu::Moment> moment;
};

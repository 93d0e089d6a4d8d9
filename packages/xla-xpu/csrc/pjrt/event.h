// PJRT_Event: the C handle of a CompletionEvent.
#pragma once

#include <memory>

#include "pjrt/completion_event.h"

struct PJRT_Event {
  std::shared_ptr<xla_xpu::CompletionEvent> completion;
};

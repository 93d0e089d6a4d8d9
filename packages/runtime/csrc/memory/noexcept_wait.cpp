#include "memory/noexcept_wait.h"

#include <sycl/sycl.hpp>

#include "memory/strict/strict.h"
#include "streams/stream_state.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu::memory {
namespace {

template <class Wait>
void log_exceptions(Wait&& wait) noexcept {
  try {
    strict::AccessGuard guard;
    wait();
  } catch (const std::exception& e) {
    log(LogLevel::error, join("waiting for work whose memory is to be freed: ", e.what()));
  }
}

}  // namespace

void wait_noexcept(const Event& event) noexcept {
  if (event.recorded()) log_exceptions([&] { event.native()->wait(); });
}

void wait_noexcept(Stream stream) noexcept {
  log_exceptions([&] { finish(*stream.state()); });
}

}  // namespace xpu::memory

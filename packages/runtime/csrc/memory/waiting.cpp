#include "memory/waiting.h"

#include <sycl/sycl.hpp>

#include "memory/strict/strict.h"
#include "stream_state.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu::memory {
namespace {

template <class Wait>
void quietly(Wait&& wait) noexcept {
  try {
    strict::Window window;
    wait();
  } catch (const std::exception& e) {
    log(LogLevel::error, join("waiting for work before its memory is given back: ", e.what()));
  }
}

}  // namespace

void wait_for_end(const Event& event) noexcept {
  if (event.recorded()) quietly([&] { event.native()->wait(); });
}

void wait_for_end(Stream stream) noexcept {
  quietly([&] { finish(*stream.state()); });
}

}  // namespace xpu::memory

#include "bridge/interpreter.h"

#include <atomic>

namespace torch_xpu {
namespace {

std::atomic<Interpreter*> set_by_module{nullptr};

}  // namespace

void set_interpreter(Interpreter* interpreter) noexcept {
  set_by_module.store(interpreter, std::memory_order_release);
}

Interpreter* interpreter() noexcept {
  return set_by_module.load(std::memory_order_acquire);
}

}  // namespace torch_xpu

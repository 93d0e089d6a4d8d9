// The bridge's Interpreter with CPython.
#pragma once

#include "bridge/interpreter.h"

namespace torch_xpu {

Interpreter& python_interpreter();

}  // namespace torch_xpu

// The text of operators.txt, which CMake puts into the library.
#pragma once

namespace torch_xpu {

extern const char* const operator_schemas;

}  // namespace torch_xpu

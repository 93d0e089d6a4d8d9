// Models that were compiled ahead of time, which inductor-xpu writes.
#pragma once

#include <string>

namespace torch_xpu {

/// Checks the library of a model and the files beside it that its manifest names, and lets builds take the
/// kernels of *.kernels files. The manifest of model.so is model.xpu_package.txt. Throws c10::Error with the
/// file, what it is, what was expected and what to do.
void open_package(const std::string& model);

}  // namespace torch_xpu

// Folders of models that were compiled ahead of time, which inductor-xpu writes.
#pragma once

#include <string>

namespace torch_xpu {

/// Checks the files that the folder's xpu_package.txt names, and lets builds take the kernels of its
/// *.kernels files. Throws c10::Error with the file, what it is, what was expected and what to do.
void open_package(const std::string& folder);

}  // namespace torch_xpu

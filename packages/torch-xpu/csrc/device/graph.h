// torch.accelerator.Graph over the runtime's graphs.
#pragma once

#include <ATen/core/GraphImplInterface.h>

#include <memory>

namespace torch_xpu {

std::unique_ptr<at::GraphImplInterface> make_graph();

}  // namespace torch_xpu

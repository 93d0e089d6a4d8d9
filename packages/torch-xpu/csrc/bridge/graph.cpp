// torch.accelerator.Graph: made by the runtime.
#include <ATen/core/GraphImplInterface.h>

#include "bridge/runtime.h"

namespace at {
namespace {

std::unique_ptr<GraphImplInterface> make_graph(const GraphImplArgs&) {
  return torch_xpu::runtime().new_graph();
}

}  // namespace

// PyTorch's registry knows devices by their names.
C10_REGISTER_CREATOR(GraphImplRegistry, XPU, make_graph)

}  // namespace at

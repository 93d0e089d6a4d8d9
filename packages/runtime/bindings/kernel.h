// A kernel as Python holds it: its module is unloaded with the last object that refers to it.
#pragma once

#include <ostream>

#include "xpu/launch.h"

namespace xpu::bindings {

struct OwnedKernel {
  SharedKernel state;

  Kernel get() const { return Kernel(state.get()); }
};

/// Names a kernel in error messages: kernel "add". In the arguments of expect() it costs nothing unless the
/// check fails.
struct Named {
  Kernel kernel;
  friend std::ostream& operator<<(std::ostream& out, const Named& named) {
    return out << "kernel \"" << named.kernel.name() << '"';
  }
};

}  // namespace xpu::bindings

#include "xpu/memory.h"

#include "bindings.h"

namespace xpu::bindings {

void bind_memory(py::module_& m) {
  m.def("allocate", [](std::size_t bytes, Stream stream) { return reinterpret_cast<std::uintptr_t>(memory::allocate(bytes, stream)); },
        py::arg("bytes"), py::arg("stream"), Unlocked());
  m.def("deallocate", [](std::uintptr_t p) { memory::deallocate(reinterpret_cast<void*>(p)); }, py::arg("pointer"), Unlocked());
}

}  // namespace xpu::bindings

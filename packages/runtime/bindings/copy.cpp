#include "xpu/copy.h"

#include "bindings.h"

namespace xpu::bindings {
namespace {
void* at(std::uintptr_t pointer) {
  return reinterpret_cast<void*>(pointer);
}
}  // namespace

void bind_copy(py::module_& m) {
  m.def(
      "copy",
      [](Stream stream, std::uintptr_t dst, std::uintptr_t src, std::size_t bytes) {
        copy(stream, at(dst), at(src), bytes);
      },
      py::arg("stream"), py::arg("dst"), py::arg("src"), py::arg("bytes"), "Queues a copy between addresses.",
      Unlocked());
  m.def(
      "fill_bytes",
      [](Stream stream, std::uintptr_t dst, int value, std::size_t bytes) {
        fill_bytes(stream, at(dst), value, bytes);
      },
      py::arg("stream"), py::arg("dst"), py::arg("value"), py::arg("bytes"), Unlocked());
  m.def(
      "fill_pattern",
      [](Stream stream, std::uintptr_t dst, const py::bytes& pattern_bytes, std::size_t count) {
        std::string_view pattern = pattern_bytes;
        py::gil_scoped_release unlocked;
        fill_pattern(stream, at(dst), pattern.data(), pattern.size(), count);
      },
      py::arg("stream"), py::arg("dst"), py::arg("pattern"), py::arg("count"));
}

}  // namespace xpu::bindings

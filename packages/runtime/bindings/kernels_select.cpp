#include <memory>

#include "operands.h"
#include "xpu/kernels/select.h"

namespace xpu::bindings {
namespace {

// A selection with the device whose memory its calls take.
struct DeviceSelection {
  int device;
  kernels::Selection selection;
  DeviceSelection(Stream stream, const Tensor& mask) : device(stream.device()), selection(stream, mask) {}
};

}  // namespace

void bind_kernels_select(py::module_& m) {
  py::class_<DeviceSelection>(m, "Selection", "The elements of a mask that are not zero.")
      .def(py::init([](Stream stream, py::handle mask) {
        Operands given("Selection", stream);
        auto chosen = given.one("mask", mask);
        py::gil_scoped_release unlocked;
        return std::make_unique<DeviceSelection>(stream, chosen);
      }))
      .def(
          "count", [](const DeviceSelection& chosen) { return chosen.selection.count(); }, Unlocked())
      .def("positions",
           [](const DeviceSelection& chosen, py::handle out) {
             Operands given("Selection.positions", chosen.device);
             auto to = given.one("out", out);
             py::gil_scoped_release unlocked;
             chosen.selection.positions(to);
           })
      .def("gather",
           [](const DeviceSelection& chosen, py::handle out, py::handle x) {
             Operands given("Selection.gather", chosen.device);
             auto to = given.one("out", out), from = given.one("x", x);
             py::gil_scoped_release unlocked;
             chosen.selection.gather(to, from);
           })
      .def("scatter", [](const DeviceSelection& chosen, py::handle out, py::handle source) {
        Operands given("Selection.scatter", chosen.device);
        auto to = given.one("out", out), from = given.one("source", source);
        py::gil_scoped_release unlocked;
        chosen.selection.scatter(to, from);
      });
}

}  // namespace xpu::bindings

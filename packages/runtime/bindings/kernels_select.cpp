#include <memory>

#include "tensor.h"
#include "xpu/kernels/select.h"

namespace xpu::bindings {

using kernels::Selection;

void bind_kernels_select(py::module_& m) {
  py::class_<Selection>(m, "Selection", "The elements of a mask that are not zero.")
      .def(py::init([](Stream stream, py::handle mask) {
        auto chosen = tensor_of(mask);
        py::gil_scoped_release unlocked;
        return std::make_unique<Selection>(stream, chosen);
      }))
      .def("count", &Selection::count, Unlocked())
      .def("positions",
           [](const Selection& selection, py::handle out) {
             auto to = tensor_of(out);
             py::gil_scoped_release unlocked;
             selection.positions(to);
           })
      .def("gather",
           [](const Selection& selection, py::handle out, py::handle x) {
             auto to = tensor_of(out), from = tensor_of(x);
             py::gil_scoped_release unlocked;
             selection.gather(to, from);
           })
      .def("scatter", [](const Selection& selection, py::handle out, py::handle source) {
        auto to = tensor_of(out), from = tensor_of(source);
        py::gil_scoped_release unlocked;
        selection.scatter(to, from);
      });
}

}  // namespace xpu::bindings

#include "xpu/graph.h"

#include "bindings.h"

namespace xpu::bindings {

void bind_graph(py::module_& m) {
  py::class_<Graph>(m, "Graph", "Captured work of a stream, replayed with one call.")
      .def(py::init<>())
      .def("begin", &Graph::begin, py::arg("stream"), py::arg("pool") = 0, Unlocked())
      .def("end", &Graph::end, Unlocked())
      .def("replay", &Graph::replay, py::arg("stream"), Unlocked())
      .def("reset", &Graph::reset, Unlocked())
      .def_property_readonly("captured", &Graph::captured)
      .def_property_readonly("mode", &Graph::mode, "'native', 'list', or '' before end().")
      .def("__len__", &Graph::size);
}

}  // namespace xpu::bindings

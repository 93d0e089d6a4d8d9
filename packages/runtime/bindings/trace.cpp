#include "xpu/trace.h"

#include <pybind11/stl.h>

#include "bindings.h"

namespace xpu::bindings {

void bind_trace(py::module_& m) {
  using trace::Record;
  auto record = py::class_<Record>(m, "TraceRecord", "One thing that happened while a trace was active.")
#define FIELD(name) .def_readonly(#name, &Record::name)
      FIELD(kind) FIELD(name) FIELD(device) FIELD(stream) FIELD(correlation) FIELD(thread) FIELD(host_begin)
          FIELD(host_end) FIELD(device_begin) FIELD(device_end) FIELD(bytes) FIELD(counter);
#undef FIELD
  using Kind = Record::Kind;
  py::enum_<Kind>(record, "Kind")
      .value("kernel", Kind::kernel)
      .value("copy", Kind::copy)
      .value("fill", Kind::fill)
      .value("dnn", Kind::dnn)
      .value("graph", Kind::graph)
      .value("marker", Kind::marker)
      .value("allocate", Kind::allocate)
      .value("free", Kind::free)
      .value("compile", Kind::compile)
      .value("span", Kind::span);
  m.def("trace_start", &trace::start, Unlocked());
  m.def("trace_stop", &trace::stop, Unlocked());
  m.def("trace_active", &trace::active);
  py::class_<trace::Span, std::unique_ptr<trace::Span>>(m, "Span").def(py::init<const std::string&>(),
                                                                       py::arg("name"));
}

}  // namespace xpu::bindings

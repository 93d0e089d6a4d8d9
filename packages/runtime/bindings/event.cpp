#include "xpu/event.h"

#include "bindings.h"
#include "xpu/host_signal.h"
#include "xpu/interrupt.h"
#include "xpu/process.h"

namespace xpu::bindings {

void bind_event(py::module_& m) {
  py::class_<Event>(m, "Event", "A point in a stream's work, to wait for or to time.")
      .def(py::init<bool>(), py::arg("timing") = false)
      .def("record", &Event::record, py::arg("stream"), Unlocked())
      .def(
          "query",
          [](const Event& event) {
            require_thread_allowed();
            return event.query();
          },
          "True if the event has completed or was never recorded.", Unlocked())
      .def(
          "synchronize",
          [](const Event& event) {
            wait_interruptibly(event);
            event.synchronize();
          },
          Unlocked())
      .def("elapsed_ms", &Event::elapsed_ms, py::arg("end"), "Device milliseconds from this event to `end`.",
           Unlocked())
      .def_property_readonly("recorded", &Event::recorded)
      .def_property_readonly("timing", &Event::timing)
      .def_property_readonly("device", &Event::device);
  py::class_<HostSignal>(m, "HostSignal", "A point in streams' work at which they wait for the host.")
      .def(py::init<int>(), py::arg("device"), Unlocked())
      .def("block", &HostSignal::block, py::arg("stream"), "Later work starts when the signal is set.",
           Unlocked())
      .def("set", &HostSignal::set, "Lets the streams continue.", Unlocked())
      .def("is_set", &HostSignal::is_set);
}

}  // namespace xpu::bindings

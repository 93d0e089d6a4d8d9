#include "xpu/stream.h"

#include "bindings.h"
#include "xpu/device.h"
#include "xpu/event.h"
#include "xpu/graph.h"
#include "xpu/interrupt.h"
#include "xpu/process.h"

namespace xpu::bindings {

void bind_stream(py::module_& m) {
  py::class_<Stream>(m, "Stream", "An in-order queue of one device.")
      .def(py::init([](int device, int priority) {
             return stream_from_pool(device < 0 ? current_device() : device, priority);
           }),
           py::arg("device") = -1, py::kw_only(), py::arg("priority") = 0, Unlocked())
      .def_property_readonly("device", &Stream::device)
      .def_property_readonly("id", &Stream::id, "0 for the default stream; unique within the device.")
      .def_property_readonly("priority", &Stream::priority, "-1 high, 0 normal, 1 low.")
      .def_property_readonly(
          "queue_pointer",
          [](Stream s) {
            py::gil_scoped_release unlocked;
            return reinterpret_cast<std::uintptr_t>(&s.queue());
          },
          "Address of the sycl::queue, for extensions that submit to it themselves.")
      .def_property_readonly("handle", &Stream::handle,
                             "An integer that identifies the stream in this process; never 0.")
      .def(
          "query",
          [](Stream s) {
            require_thread_allowed();
            return s.query();
          },
          "True if no work is pending.", Unlocked())
      .def(
          "synchronize",
          [](Stream s) {
            wait_interruptibly(s);
            s.synchronize();
          },
          "Waits; raises for work that failed.", Unlocked())
      .def("wait", py::overload_cast<const Event&>(&Stream::wait, py::const_), py::arg("event"),
           "Later work waits, on the device, for the event.", Unlocked())
      .def("wait", py::overload_cast<Stream>(&Stream::wait, py::const_), py::arg("stream"),
           "Later work waits, on the device, for what the other stream holds now.", Unlocked())
      .def("is_capturing", [](Stream s) { return is_capturing(s); })
      .def("__eq__",
           [](Stream a, py::object b) { return py::isinstance<Stream>(b) && a == b.cast<Stream>(); })
      .def("__hash__", [](Stream s) { return std::hash<void*>()(s.state()); })
      .def("__repr__", [](Stream s) {
        return "<xpu stream " + std::to_string(s.id()) + " of device " + std::to_string(s.device()) + ">";
      });
  m.def("default_stream", &default_stream, py::arg("device"), Unlocked());
  m.def("current_stream", &current_stream, py::arg("device"), Unlocked());
  m.def("exchange_stream", &exchange_stream, py::arg("stream"), Unlocked());
  m.def("stream_of_handle", py::overload_cast<std::uintptr_t>(&stream_of_handle), py::arg("handle"),
        Unlocked());
  m.def(
      "external_stream",
      [](std::uintptr_t queue) { return external_stream(*reinterpret_cast<sycl::queue*>(queue)); },
      py::arg("queue_pointer"), "Wraps a sycl::queue somebody else owns.", Unlocked());
}

}  // namespace xpu::bindings

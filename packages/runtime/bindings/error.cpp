#include <Python.h>

#include <deque>
#include <mutex>
#include <utility>

#include "bindings.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu::bindings {
namespace {

template <class E>
py::handle add(py::module_& m, const char* name, py::handle base, const char* doc) {
  auto type = py::register_exception<E>(m, name, base);
  type.attr("__module__") = "xpu_runtime";
  type.attr("__doc__") = doc;
  return type;
}

// Messages may come from threads that hold the runtime's locks, so they wait here until the interpreter asks.
struct Pending {
  std::mutex mutex;
  std::deque<std::pair<int, std::string>> messages;
};
Pending& pending() {
  static auto* one = new Pending;
  return *one;
}

// Nobody reads messages below warnings in a program that has not imported logging. To import it would take
// time and, if the program has just been interrupted, make Python forget to end by that signal.
bool is_read(int level) {
  return level >= static_cast<int>(LogLevel::warning) ||
         py::reinterpret_borrow<py::dict>(PyImport_GetModuleDict()).contains("logging");
}

// What a handler raises is the interpreter's: Ctrl-C in one reaches the program. The messages behind it are
// kept.
void flush() {
  while (true) {
    std::pair<int, std::string> message;
    {
      std::lock_guard lock(pending().mutex);
      if (pending().messages.empty()) return;
      message = std::move(pending().messages.front());
      pending().messages.pop_front();
    }
    if (!is_read(message.first)) continue;
    // An import by name would ask the frame that the interpreter has just interrupted for its __import__, and
    // those of named tuples' constructors have none.
    auto logging = py::reinterpret_steal<py::object>(
        PyImport_ImportModuleLevel("logging", nullptr, nullptr, nullptr, 0));
    if (!logging) throw py::error_already_set();
    auto logger = logging.attr("getLogger")("xpu_runtime");
    logger.attr("log")(message.first, "%s", message.second);
  }
}

// Called by the interpreter, through whose frames nothing may be thrown.
int flush_pending(void*) {
  try {
    flush();
    return 0;
  } catch (py::error_already_set& raised) {
    raised.restore();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return -1;
}

void sink(LogLevel level, const std::string& message) {
  {
    std::lock_guard lock(pending().mutex);
    pending().messages.emplace_back(static_cast<int>(level), message);
  }
  Py_AddPendingCall(flush_pending, nullptr);
}

}  // namespace

void bind_error(py::module_& m) {
  auto base = add<Error>(m, "Error", PyExc_RuntimeError, "Base of everything the runtime raises.");
  auto bases = [&](PyObject* builtin) {
    return py::make_tuple(base, py::reinterpret_borrow<py::object>(builtin));
  };
  auto usage = add<UsageError>(m, "UsageError", bases(PyExc_ValueError), "The caller's mistake.");
  add<OutOfResources>(m, "OutOfResources", usage,
                      "A kernel needs more of the device than there is; another configuration may run.");
  auto device = add<DeviceError>(m, "DeviceError", base, "The device or its driver failed.");
  add<KernelFault>(m, "KernelFault", device, "A check inside a kernel failed; found at the next wait.");
  add<ShuttingDown>(m, "ShuttingDown", device, "The process ends, and its devices accept no more work.");
  add<OutOfMemory>(m, "OutOfMemory", bases(PyExc_MemoryError),
                   "Memory ran out after a retry with empty caches.");
  add<Unsupported>(m, "Unsupported", bases(PyExc_NotImplementedError),
                   "This device or backend cannot do it.");
  add<CompileError>(m, "CompileError", base, "Kernel source did not compile; carries the compiler's log.");
  add<InternalError>(m, "InternalError", base, "A bug in the runtime.");
  set_log_sink(sink);
  m.def("flush_log", &flush, "Hands pending messages to logging now.");
  py::module_::import("atexit").attr("register")(py::cpp_function([] { set_log_sink(nullptr); }));
}

}  // namespace xpu::bindings

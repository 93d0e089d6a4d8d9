#include "memory_stack.h"

#include <dlfcn.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <csignal>

#include "xpu/strict.h"

namespace py = pybind11;

namespace xpu::bindings {
namespace {

// What faulthandler uses: the only Python code that may run in a signal handler. CPython does not promise the
// name, so it is looked up.
using Dump = void (*)(int file, PyThreadState* thread);
Dump dump = nullptr;

void print(int file) {
  if (PyThreadState* thread = PyGILState_GetThisThreadState()) dump(file, thread);
}

// Python 3.13 hides the function. The thread that raises this signal then runs a handler of faulthandler's.
int stack_signal() {
  return SIGRTMAX - 1;
}

void print_by_signal(int) {
  if (PyGILState_GetThisThreadState()) raise(stack_signal());
}

}  // namespace

void print_python_stack_on_fault() {
  if (!strict::enabled()) return;
  dump = reinterpret_cast<Dump>(dlsym(RTLD_DEFAULT, "_Py_DumpTraceback"));
  if (dump) return strict::set_stack_printer(print);
  auto handler = py::module_::import("faulthandler").attr("register");
  handler(stack_signal(), py::arg("file") = STDERR_FILENO, py::arg("all_threads") = false);
  strict::set_stack_printer(print_by_signal);
}

}  // namespace xpu::bindings

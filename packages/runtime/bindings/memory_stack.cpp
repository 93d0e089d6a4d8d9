#include "memory_stack.h"

#include <Python.h>
#include <dlfcn.h>

#include "xpu/strict.h"

namespace xpu::bindings {
namespace {

// What faulthandler uses: the only Python code that may run in a signal handler. CPython does not promise the
// name, so it is looked up, and without it only the native stack is printed.
using Dump = void (*)(int file, PyThreadState* thread);
Dump dump = nullptr;

void print(int file) {
  if (PyThreadState* thread = PyGILState_GetThisThreadState()) dump(file, thread);
}

}  // namespace

void print_python_stack_on_fault() {
  dump = reinterpret_cast<Dump>(dlsym(RTLD_DEFAULT, "_Py_DumpTraceback"));
  if (dump) strict::set_stack_printer(print);
}

}  // namespace xpu::bindings

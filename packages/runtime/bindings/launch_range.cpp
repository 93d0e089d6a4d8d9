#include "launcher.h"
#include "xpu/error.h"

namespace xpu::bindings {
namespace {

[[noreturn]] void throw_wrong_size(PyObject* value, const Kernel& kernel, const char* what) {
  clear_conversion_error();
  fail<UsageError>(Named{kernel}, ": ", what, " size: got ", shown(value),
                   ", expected an integer from 0, or up to three of them");
}

// Returns the number of sizes.
int read_sizes(PyObject* value, std::size_t* sizes, const Kernel& kernel, const char* what) {
  auto read = [&](PyObject* item) {
    auto number = PyLong_CheckExact(item) ? py::reinterpret_borrow<py::object>(item)
                                          : py::reinterpret_steal<py::object>(PyNumber_Index(item));
    auto size = number ? PyLong_AsSize_t(number.ptr()) : 0;
    if (PyErr_Occurred()) throw_wrong_size(value, kernel, what);
    return size;
  };
  if (!PySequence_Check(value)) {
    sizes[0] = read(value);
    return 1;
  }
  auto items = py::reinterpret_steal<py::object>(PySequence_Fast(value, ""));
  auto count = items ? PySequence_Fast_GET_SIZE(items.ptr()) : 0;
  if (count < 1 || count > 3) throw_wrong_size(value, kernel, what);
  for (Py_ssize_t i = 0; i < count; ++i) sizes[i] = read(PySequence_Fast_GET_ITEM(items.ptr(), i));
  return static_cast<int>(count);
}

}  // namespace

std::string shown(PyObject* value) {
  auto type = py::str(py::type::of(value)).cast<std::string>();
  bool is_short = PyLong_Check(value) || PyFloat_Check(value) || PyUnicode_Check(value);
  return is_short ? join(py::repr(value).cast<std::string>(), " of ", type) : type;
}

void clear_conversion_error() {
  if (!PyErr_Occurred()) return;
  if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_OverflowError) &&
      !PyErr_ExceptionMatches(PyExc_BufferError))
    throw py::error_already_set();
  PyErr_Clear();
}

NdRange read_range(PyObject* global, PyObject* local, const Kernel& kernel) {
  NdRange range;
  range.dims = read_sizes(global, range.global, kernel, "global");
  auto dims = read_sizes(local, range.local, kernel, "local");
  expect<UsageError>(dims == range.dims, Named{kernel}, ": global and local sizes must have the same 1 to 3 ",
                     "dimensions; got ", range.dims, " and ", dims);
  return range;
}

}  // namespace xpu::bindings

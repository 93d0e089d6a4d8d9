#include "launcher.h"

#include <structmember.h>

#include "xpu/error.h"

namespace xpu::bindings {
namespace {

struct Launcher {
  OwnedKernel kernel;
  LaunchTypes types;
};

struct LauncherObject {
  PyObject_HEAD vectorcallfunc call;
  Launcher* launcher;
};

constexpr std::size_t first_argument = 2;  // after the two sizes

// A Stream, its handle, 0 for the default stream, or None for the current one.
Stream read_stream(PyObject* value, const Kernel& kernel) {
  auto device = kernel.device();
  if (!value || value == Py_None) return current_stream(device);
  if (PyLong_CheckExact(value)) {
    auto handle = PyLong_AsSize_t(value);
    if (!PyErr_Occurred()) return handle ? stream_of_handle(device, handle) : default_stream(device);
  } else if (py::isinstance<Stream>(value)) {
    return py::handle(value).cast<Stream>();
  }
  clear_conversion_error();
  fail<UsageError>(Named{kernel}, ": stream: got ", shown(value),
                   ", expected a Stream, the handle of one, or None");
}

PyObject* stream_of_keywords(PyObject* const* values, PyObject* names, const Kernel& kernel) {
  static PyObject* const stream = PyUnicode_InternFromString("stream");
  auto count = names ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    auto* name = PyTuple_GET_ITEM(names, i);
    if (name != stream && PyUnicode_Compare(name, stream) != 0)
      fail<UsageError>(Named{kernel}, ": got the keyword ", py::str(name).cast<std::string>(),
                       ", expected stream");
  }
  return count ? values[0] : nullptr;
}

void launch(const Launcher& launcher, PyObject* const* values, std::size_t count, PyObject* names) {
  auto kernel = launcher.kernel.get();
  expect<UsageError>(count == launcher.types.values.size() + first_argument, Named{kernel}, ": got ", count,
                     " positional arguments, expected the global size, the local size and ",
                     launcher.types.values.size(), " arguments of the kernel");
  auto range = read_range(values[0], values[1], kernel);
  auto stream = read_stream(stream_of_keywords(values + count, names, kernel), kernel);
  // On the stack: values may call Python, which may call this launcher.
  constexpr std::size_t bytes_on_stack = 2048;
  alignas(8) unsigned char few[bytes_on_stack];
  auto& types = launcher.types;
  std::vector<std::uint64_t> many(types.bytes > bytes_on_stack ? types.bytes / 8 + 1 : 0);
  auto* bytes = many.empty() ? few : reinterpret_cast<unsigned char*>(many.data());
  write_values(types, values + first_argument, kernel, stream, bytes);
  ArgumentList list{types.items.data(), types.items.size(), bytes};
  py::gil_scoped_release unlocked;
  xpu::launch(stream, kernel, range, list);
}

PyObject* call(PyObject* self, PyObject* const* values, std::size_t flags, PyObject* names) {
  try {
    launch(*reinterpret_cast<LauncherObject*>(self)->launcher, values,
           static_cast<std::size_t>(PyVectorcall_NARGS(flags)), names);
    Py_RETURN_NONE;
  } catch (...) {
    py::detail::try_translate_exceptions();
    return nullptr;
  }
}

PyObject* make(PyTypeObject* type, PyObject* positional, PyObject* keywords) {
  static const char* const names[] = {"kernel", "types", nullptr};
  PyObject* kernel = nullptr;
  const char* types = nullptr;
  if (!PyArg_ParseTupleAndKeywords(positional, keywords, "Os", const_cast<char**>(names), &kernel, &types))
    return nullptr;
  try {
    auto& owned = py::handle(kernel).cast<const OwnedKernel&>();
    auto launcher = std::make_unique<Launcher>(owned, LaunchTypes(types, owned.get()));
    auto* self = type->tp_alloc(type, 0);
    if (!self) return nullptr;
    auto* object = reinterpret_cast<LauncherObject*>(self);
    object->call = call;
    object->launcher = launcher.release();
    return self;
  } catch (...) {
    py::detail::try_translate_exceptions();
    return nullptr;
  }
}

void destroy(PyObject* self) {
  auto* type = Py_TYPE(self);
  delete reinterpret_cast<LauncherObject*>(self)->launcher;
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* describe_launcher(PyObject* self) {
  auto& launcher = *reinterpret_cast<LauncherObject*>(self)->launcher;
  return PyUnicode_FromFormat("<launcher of kernel \"%s\" with %zu arguments>",
                              launcher.kernel.get().name().c_str(), launcher.types.values.size());
}

constexpr const char* doc =
    "Launcher(kernel, types)\n--\n\n"
    "Launches a kernel whose arguments' types are fixed: `launcher(global_size, local_size, *arguments, "
    "stream=None)`.\n\n"
    "`types` names the type of each argument: p for an address, b1, i1, i2, i4, i8, u1, u2, u4, u8, f2, f4, "
    "f8, "
    "bf2, sN for a struct of N bytes. A p takes a tensor of PyTorch, an array of JAX or of the runtime, or "
    "an "
    "integer. `stream` is a Stream, the handle of one (0 is the default stream), or None for the current "
    "one. "
    "A call returns nothing and waits for nothing.";

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(LauncherObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_repr, reinterpret_cast<void*>(describe_launcher)},
    {Py_tp_members, members},
    {Py_tp_doc, const_cast<char*>(doc)},
    {0, nullptr},
};

PyType_Spec spec{"xpu_runtime.Launcher", sizeof(LauncherObject), 0,
                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};

}  // namespace

void bind_launcher(py::module_& m) {
  auto type = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
  if (!type) throw py::error_already_set();
  m.attr("Launcher") = type;
}

}  // namespace xpu::bindings

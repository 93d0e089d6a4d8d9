// From PJRT's threads into Python's compiler.
#include <malloc.h>
#include <pybind11/embed.h>

#include <chrono>
#include <set>

#include "exec/executable.h"
#include "exec/program.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xla_xpu {
namespace {

namespace py = pybind11;

constexpr int cancelled = 1, invalid_argument = 3, unimplemented = 12, internal = 13;

int code_of(py::error_already_set& error) {
  auto failures = py::module_::import("xla_xpu.compiler.failures");
  if (error.matches(failures.attr("Unsupported"))) return unimplemented;
  if (error.matches(failures.attr("Invalid"))) return invalid_argument;
  return internal;
}

std::string message_of(py::error_already_set& error) {
  auto message = py::str(error.value()).cast<std::string>();
  return message.empty() ? error.what() : message;
}

using Made = std::shared_ptr<const Executable>;

// What is compiled for devices that are not here is tried on the first: they are to be like it.
Made prepared(Made made) {
  std::set<int> devices;
  for (int device : made->devices) devices.insert(device < xpu::device_count() ? device : 0);
  for (int device : devices) made->program->prepare(device);
  return made;
}

Made made_by(const char* function, auto... texts) {
  py::gil_scoped_acquire gil;
  auto result = py::module_::import("xla_xpu.compiler").attr(function)(py::bytes(texts)...);
  return result.template cast<std::shared_ptr<Executable>>();
}

// JAX raises an error of its own for what PJRT returns. What the handler of a signal raised is raised in that
// one's place, as soon as the interpreter goes on.
[[noreturn]] void fail_with(py::error_already_set& error) {
  py::gil_scoped_acquire gil;
  if (!error.matches(PyExc_Exception)) {
    PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), error.type().ptr());
    throw CompileFailure(cancelled, "the compilation was interrupted");
  }
  throw CompileFailure(code_of(error), message_of(error));
}

// A compilation this long has had the vendor's compilers at work, on many threads. What they freed the C
// library keeps, for each thread apart: some 200 MB after every dozen of programs.
constexpr auto long_compilation = std::chrono::milliseconds(150);

Made call(const char* function, auto... texts) {
  auto begin = std::chrono::steady_clock::now();
  try {
    auto made = prepared(made_by(function, texts...));
#ifdef __GLIBC__
    if (std::chrono::steady_clock::now() - begin > long_compilation) malloc_trim(0);
#endif
    return made;
  } catch (py::error_already_set& error) {
    fail_with(error);
  }
}

}  // namespace

std::size_t Value::bytes() const {
  // By PJRT_Buffer_Type; types of less than a byte take one.
  static constexpr std::uint8_t sizes[] = {0,  1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 2, 8,
                                           16, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1};
  auto index = static_cast<std::size_t>(type);
  xpu::expect<xpu::UsageError>(index < std::size(sizes), "jax: there is no element type ", type);
  std::size_t bytes = sizes[index];
  for (auto size : dims) bytes *= static_cast<std::size_t>(size);
  return bytes;
}

std::shared_ptr<const Executable> compile(std::string_view program, std::string_view format,
                                          std::string_view options) {
  try {
    return call("compile", program, format, options);
  } catch (const xpu::CompileError& error) {
    xpu::log(
        xpu::LogLevel::warning,
        xpu::join(
            "jax: the vendor's compiler fails on a program's kernels, so each of its operations is now a "
            "kernel of its own. ",
            error.what()));
  }
  return call("compile_apart", program, format, options);
}

std::shared_ptr<const Executable> load(std::string_view serialized, std::string_view options) {
  return call("load", serialized, options);
}

}  // namespace xla_xpu

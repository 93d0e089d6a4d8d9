// Calls the compiler, which is Python, from PJRT's threads.
#include <malloc.h>
#include <pybind11/embed.h>

#include <chrono>
#include <set>

#include "exec/element_type.h"
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

using ExecutablePointer = std::shared_ptr<const Executable>;

// Builds the kernels for all devices; for devices that do not exist here, on the first one, which is like
// them.
void prepare(const Executable& executable) {
  std::set<int> devices;
  for (int device : executable.devices) devices.insert(device < xpu::device_count() ? device : 0);
  for (int device : devices) executable.program->prepare(device);
}

ExecutablePointer call_compiler(const char* function, auto... arguments) {
  py::gil_scoped_acquire gil;
  auto result = py::module_::import("xla_xpu.compiler").attr(function)(py::bytes(arguments)...);
  return result.template cast<std::shared_ptr<Executable>>();
}

// JAX raises its own exception for the error that PJRT returns. An exception of a signal handler, such as
// KeyboardInterrupt, is raised instead of it as soon as the interpreter continues.
[[noreturn]] void throw_compile_failure(py::error_already_set& error) {
  py::gil_scoped_acquire gil;
  if (!error.matches(PyExc_Exception)) {
    PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), error.type().ptr());
    throw CompileFailure(cancelled, "the compilation was interrupted");
  }
  throw CompileFailure(code_of(error), message_of(error));
}

// A compilation that takes this long ran the vendor's compilers on many threads. The C library keeps the
// memory that they free in an arena per thread: about 200 MB after a dozen programs.
constexpr auto long_compilation = std::chrono::milliseconds(150);

ExecutablePointer run_compiler(const char* function, auto... arguments) {
  auto begin = std::chrono::steady_clock::now();
  try {
    auto executable = call_compiler(function, arguments...);
    prepare(*executable);
#ifdef __GLIBC__
    if (std::chrono::steady_clock::now() - begin > long_compilation) malloc_trim(0);
#endif
    return executable;
  } catch (py::error_already_set& error) {
    throw_compile_failure(error);
  }
}

}  // namespace

std::size_t Value::bytes() const {
  auto* element = find_element_type(type);
  xpu::expect<xpu::UsageError>(element, "jax: unknown element type number ", type);
  std::size_t bytes = element->bytes;
  for (auto size : dims) bytes *= static_cast<std::size_t>(size);
  return bytes;
}

std::shared_ptr<const Executable> compile(std::string_view program, std::string_view format,
                                          std::string_view options) {
  try {
    return run_compiler("compile", program, format, options);
  } catch (const xpu::CompileError& error) {
    xpu::log(
        xpu::LogLevel::warning,
        xpu::join(
            "jax: the vendor's compiler fails on fused kernels of a program, so the program now runs with "
            "one kernel per operation. ",
            error.what()));
  }
  return run_compiler("compile_unfused", program, format, options);
}

std::shared_ptr<const Executable> load(std::string_view serialized, std::string_view options) {
  return run_compiler("load", serialized, options);
}

}  // namespace xla_xpu

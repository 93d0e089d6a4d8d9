// From PJRT's threads into Python's compiler.
#include <pybind11/embed.h>

#include "exec/executable.h"
#include "exec/program.h"
#include "xpu/error.h"

namespace xla_xpu {
namespace {

namespace py = pybind11;

constexpr int invalid_argument = 3, unimplemented = 12, internal = 13;

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

std::shared_ptr<const Executable> call(const char* function, auto... texts) {
  std::shared_ptr<const Executable> made;
  {
    py::gil_scoped_acquire gil;
    try {
      auto result = py::module_::import("xla_xpu.compiler").attr(function)(py::bytes(texts)...);
      made = result.template cast<std::shared_ptr<Executable>>();
    } catch (py::error_already_set& error) {
      throw CompileFailure(code_of(error), message_of(error));
    }
  }
  for (int device : made->devices) made->program->prepare(device);
  return made;
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
  return call("compile", program, format, options);
}

std::shared_ptr<const Executable> load(std::string_view serialized, std::string_view options) {
  return call("load", serialized, options);
}

}  // namespace xla_xpu

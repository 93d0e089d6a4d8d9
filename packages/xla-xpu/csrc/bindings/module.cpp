// The module xla_xpu._plugin: classes that the Python compiler creates.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/plugin.h"
#include "exec/executable.h"
#include "exec/program.h"
#include "exec/steps.h"
#include "xpu/error.h"

namespace py = pybind11;

namespace xla_xpu {
namespace {

Buffer::Kind kind_of(const std::string& name) {
  if (name == "parameter") return Buffer::Kind::parameter;
  if (name == "output") return Buffer::Kind::output;
  if (name == "temporary") return Buffer::Kind::temporary;
  xpu::expect<xpu::UsageError>(name == "constant", "plan: there is no kind of buffer \"", name, "\"");
  return Buffer::Kind::constant;
}

std::shared_ptr<Program> make_program(const py::list& buffers, std::size_t temporary_bytes,
                                      const py::bytes& constants, const py::list& steps) {
  std::vector<Buffer> all;
  for (auto item : buffers) {
    auto pair = py::cast<py::sequence>(item);
    all.push_back({kind_of(py::cast<std::string>(pair[0])), py::cast<std::size_t>(pair[1])});
  }
  return std::make_shared<Program>(std::move(all), temporary_bytes, std::string(constants),
                                   make_steps(steps));
}

}  // namespace
}  // namespace xla_xpu

PYBIND11_MODULE(_plugin, m) {
  using namespace xla_xpu;
  bind_plugin(m);
  py::class_<Program, std::shared_ptr<Program>>(m, "Program")
      .def(py::init(&make_program), py::arg("buffers"), py::arg("temporary_bytes"), py::arg("constants"),
           py::arg("steps"));
  py::class_<Value>(m, "Value")
      .def(py::init([](int type, std::vector<std::int64_t> dims, std::string memory_kind,
                       const py::bytes& sharding, std::vector<std::int64_t> order) {
             return Value{type, std::move(dims), std::move(memory_kind), std::string(sharding),
                          std::move(order)};
           }),
           py::arg("type"), py::arg("dims"), py::arg("memory_kind") = "device",
           py::arg("sharding") = py::bytes(), py::arg("order") = std::vector<std::int64_t>());
  py::class_<Executable, std::shared_ptr<Executable>>(m, "Executable")
      .def(
          py::init([](std::string name, std::string fingerprint, const py::bytes& serialized,
                      std::string text, std::vector<Value> parameters, std::vector<Value> outputs,
                      std::vector<int> donated, std::vector<std::pair<int, int>> output_aliases, int replicas,
                      int partitions, std::vector<int> devices, std::map<std::string, double> cost,
                      std::size_t temporary_bytes, std::size_t code_bytes, std::shared_ptr<Program> program) {
            return std::make_shared<Executable>(
                Executable{std::move(name), std::move(fingerprint), std::string(serialized), std::move(text),
                           std::move(parameters), std::move(outputs), std::move(donated),
                           std::move(output_aliases), replicas, partitions, std::move(devices),
                           std::move(cost), temporary_bytes, code_bytes, std::move(program)});
          }),
          py::kw_only(), py::arg("name"), py::arg("fingerprint"), py::arg("serialized"), py::arg("text"),
          py::arg("parameters"), py::arg("outputs"), py::arg("donated"), py::arg("output_aliases"),
          py::arg("replicas"), py::arg("partitions"), py::arg("devices"), py::arg("cost"),
          py::arg("temporary_bytes"), py::arg("code_bytes"), py::arg("program"));
}

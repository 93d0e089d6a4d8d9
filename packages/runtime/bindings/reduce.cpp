#include <pybind11/stl.h>

#include "operands.h"
#include "scalar.h"
#include "xpu/kernels/reduce.h"

namespace xpu::bindings {
namespace {

using kernels::Accumulator;
using kernels::Reduction;

Reduction* make_reduction(const std::string& name,
                          const std::vector<std::pair<std::string, std::string>>& accumulators,
                          const std::vector<std::string>& map, const std::string& combine,
                          const std::vector<std::string>& outputs, const std::string& update, int inputs,
                          int scalars, const std::vector<std::string>& headers, const std::string& helpers,
                          std::uint32_t unconverted_inputs, bool uses_index) {
  std::vector<Accumulator> list;
  for (auto& [type, identity] : accumulators) list.push_back({type, identity});
  return new Reduction({name, list, map, combine, outputs, update, inputs, scalars, headers, helpers,
                        unconverted_inputs, uses_index});
}

void call_reduction(const Reduction& op, Stream stream, const py::sequence& out, const py::sequence& in,
                    const std::vector<int>& dims, const py::sequence& scalars,
                    const std::optional<std::string>& compute) {
  Operands given("reduction", stream);
  auto outputs = given.all("out", out), inputs = given.all("in", in);
  auto values = scalars_of(scalars);
  auto dtype = dtype_or_none(compute);
  py::gil_scoped_release unlocked;
  op(stream, outputs, inputs, dims, values, dtype);
}

}  // namespace

void bind_reduce(py::module_& m) {
  py::class_<Reduction>(m, "Reduction", "A reduction from C++ expressions.")
      .def(py::init(&make_reduction), py::arg("name"), py::arg("accumulators"), py::arg("map"),
           py::arg("combine"), py::arg("outputs"), py::arg("update"), py::arg("inputs"), py::arg("scalars"),
           py::arg("headers"), py::arg("helpers"), py::arg("unconverted_inputs"), py::arg("uses_index"))
      .def("__call__", &call_reduction, py::arg("stream"), py::arg("outputs"), py::arg("inputs"),
           py::arg("dims"), py::arg("scalars"), py::arg("compute"))
      .def(
          "source",
          [](const Reduction& op, int device, const py::sequence& out, const py::sequence& in,
             const std::vector<int>& dims, const std::optional<std::string>& compute) {
            Operands given("reduction", device);
            return op.source(device, given.all("out", out), given.all("in", in), dims,
                             dtype_or_none(compute));
          },
          py::arg("device"), py::arg("outputs"), py::arg("inputs"), py::arg("dims"), py::arg("compute"));
  m.def("reduction", &kernels::reduction, py::arg("name"), py::return_value_policy::reference);
  m.def("reduction_names", &kernels::reduction_names);
}

}  // namespace xpu::bindings

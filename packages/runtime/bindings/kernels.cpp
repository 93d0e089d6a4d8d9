#include <pybind11/stl.h>

#include "operands.h"
#include "scalar.h"
#include "xpu/kernels/copy.h"
#include "xpu/kernels/elementwise.h"
#include "xpu/kernels/fill.h"

namespace xpu::bindings {
namespace {

using kernels::Elementwise;

Elementwise* make_elementwise(const std::string& name, const std::vector<std::string>& outputs, int inputs,
                              int scalars, const std::string& body, const std::vector<std::string>& headers,
                              const std::string& helpers, std::uint32_t unconverted_inputs, bool uses_index) {
  return new Elementwise(
      {name, outputs, inputs, scalars, body, headers, helpers, unconverted_inputs, uses_index});
}

}  // namespace

void bind_kernels(py::module_& m) {
  py::class_<Elementwise>(m, "Elementwise", "An elementwise operation from C++ expressions.")
      .def(py::init(&make_elementwise), py::arg("name"), py::arg("outputs"), py::arg("inputs"),
           py::arg("scalars"), py::arg("body"), py::arg("headers"), py::arg("helpers"),
           py::arg("unconverted_inputs"), py::arg("uses_index"))
      .def(
          "__call__",
          [](const Elementwise& op, Stream stream, const py::sequence& out, const py::sequence& in,
             const py::sequence& scalars, const std::optional<std::string>& compute) {
            Operands given("elementwise", stream);
            auto outputs = given.all("out", out), inputs = given.all("in", in);
            auto values = scalars_of(scalars);
            auto dtype = dtype_or_none(compute);
            py::gil_scoped_release unlocked;
            op(stream, outputs, inputs, values, dtype);
          },
          py::arg("stream"), py::arg("outputs"), py::arg("inputs"), py::arg("scalars"), py::arg("compute"))
      .def(
          "source",
          [](const Elementwise& op, int device, const py::sequence& out, const py::sequence& in,
             const std::optional<std::string>& compute) {
            Operands given("elementwise", device);
            return op.source(device, given.all("out", out), given.all("in", in), dtype_or_none(compute));
          },
          py::arg("device"), py::arg("outputs"), py::arg("inputs"), py::arg("compute"));
  m.def(
      "copy_strided",
      [](Stream stream, py::handle dst, py::handle src) {
        Operands given("copy", stream);
        Tensor to = given.one("dst", dst), from = given.of_any_device("src", src);
        py::gil_scoped_release unlocked;
        kernels::copy(stream, to, from);
      },
      py::arg("stream"), py::arg("dst"), py::arg("src"));
  m.def(
      "fill",
      [](Stream stream, py::handle dst, py::handle value) {
        Operands given("fill", stream);
        Tensor to = given.one("dst", dst);
        Scalar scalar = scalar_of(value);
        py::gil_scoped_release unlocked;
        kernels::fill(stream, to, scalar);
      },
      py::arg("stream"), py::arg("dst"), py::arg("value"));
  m.def(
      "promote",
      [](const std::string& a, const std::string& b) {
        return name_of(kernels::promote(dtype_of(a), dtype_of(b)));
      },
      py::arg("a"), py::arg("b"));
}

}  // namespace xpu::bindings

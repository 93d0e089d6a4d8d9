#include <pybind11/stl.h>

#include "operands.h"
#include "xpu/kernels/scan.h"

namespace xpu::bindings {
namespace {

using kernels::Scan;
using kernels::ScanOptions;

void bind_named(py::module_& m, const char* name,
                void (*scan)(Stream, const Tensor&, const Tensor&, int, ScanOptions)) {
  m.def(name,
        [name, scan](Stream stream, py::handle out, py::handle in, int dim, bool exclusive, bool reverse) {
          Operands given(name, stream);
          auto to = given.one("out", out), from = given.one("in", in);
          py::gil_scoped_release unlocked;
          scan(stream, to, from, dim, {exclusive, reverse});
        });
}

void bind_extreme(py::module_& m, const char* name,
                  void (*scan)(Stream, const Tensor&, const Tensor&, const Tensor&, int)) {
  m.def(name, [name, scan](Stream stream, py::handle values, py::handle indices, py::handle in, int dim) {
    Operands given(name, stream);
    auto to = given.one("values", values), from = given.one("in", in);
    auto at = given.maybe("indices", indices).value_or(Tensor());
    py::gil_scoped_release unlocked;
    scan(stream, to, at, from, dim);
  });
}

}  // namespace

void bind_kernels_scan(py::module_& m) {
  py::class_<Scan>(m, "Scan", "A scan from C++ expressions.")
      .def(py::init([](const std::string& name, const std::string& combine, const std::string& identity,
                       bool commutes, const std::vector<std::string>& headers) {
        return new Scan({name, combine, identity, commutes, headers});
      }))
      .def("__call__", [](const Scan& scan, Stream stream, py::handle out, py::handle in, int dim,
                          bool exclusive, bool reverse) {
        Operands given("scan", stream);
        auto to = given.one("out", out), from = given.one("in", in);
        py::gil_scoped_release unlocked;
        scan(stream, to, from, dim, {exclusive, reverse});
      });
  bind_named(m, "cumsum", &kernels::cumsum);
  bind_named(m, "cumprod", &kernels::cumprod);
  bind_named(m, "logcumsumexp", &kernels::logcumsumexp);
  bind_extreme(m, "cummax", &kernels::cummax);
  bind_extreme(m, "cummin", &kernels::cummin);
}

}  // namespace xpu::bindings

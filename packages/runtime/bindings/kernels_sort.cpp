#include <pybind11/stl.h>

#include "operands.h"
#include "xpu/kernels/sort.h"

namespace xpu::bindings {
namespace {

Tensor or_none(const Operands& given, const char* argument, py::handle array) {
  return given.maybe(argument, array).value_or(Tensor());
}

}  // namespace

void bind_kernels_sort(py::module_& m) {
  using kernels::ComparisonSort;
  py::class_<ComparisonSort>(m, "ComparisonSort", "A sort by a C++ expression.")
      .def(py::init(
          [](const std::string& name, const std::string& less, const std::vector<std::string>& headers) {
            return new ComparisonSort({name, less, headers});
          }))
      .def("__call__", [](const ComparisonSort& sort, Stream stream, const py::sequence& outs,
                          const py::sequence& ins, int dim) {
        Operands given("comparison_sort", stream);
        auto to = given.all("outs", outs), from = given.all("ins", ins);
        py::gil_scoped_release unlocked;
        sort(stream, to, from, dim);
      });
  m.def("sort", [](Stream stream, py::handle values, py::handle indices, py::handle in, int dim,
                   bool descending, bool total_order) {
    Operands given("sort", stream);
    auto to = or_none(given, "values", values), at = or_none(given, "indices", indices),
         from = given.one("in", in);
    py::gil_scoped_release unlocked;
    kernels::sort(stream, to, at, from, dim, {descending, total_order});
  });
  m.def("topk", [](Stream stream, py::handle values, py::handle indices, py::handle in, std::int64_t k,
                   int dim, bool largest, bool sorted) {
    Operands given("topk", stream);
    auto to = or_none(given, "values", values), at = or_none(given, "indices", indices),
         from = given.one("in", in);
    py::gil_scoped_release unlocked;
    kernels::topk(stream, to, at, from, k, dim, {largest, sorted});
  });
}

}  // namespace xpu::bindings

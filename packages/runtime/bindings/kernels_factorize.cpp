#include "operands.h"
#include "xpu/kernels/factorize.h"

namespace xpu::bindings {

void bind_kernels_factorize(py::module_& m) {
  m.def("solve_triangle",
        [](Stream stream, py::handle a, py::handle x, bool upper, bool unit, bool conjugate) {
          Operands given("solve_triangle", stream);
          auto matrix = given.one("a", a), unknowns = given.one("x", x);
          py::gil_scoped_release unlocked;
          kernels::solve_triangle(stream, matrix, unknowns, {upper, unit, conjugate});
        });
  m.def("factorize_lu", [](Stream stream, py::handle a, py::handle pivots, py::handle info, bool pivot) {
    Operands given("factorize_lu", stream);
    auto matrix = given.one("a", a), numbers = given.one("pivots", pivots), infos = given.one("info", info);
    py::gil_scoped_release unlocked;
    kernels::factorize_lu(stream, matrix, numbers, infos, pivot);
  });
  m.def("factorize_cholesky", [](Stream stream, py::handle a, py::handle info) {
    Operands given("factorize_cholesky", stream);
    auto matrix = given.one("a", a), infos = given.one("info", info);
    py::gil_scoped_release unlocked;
    kernels::factorize_cholesky(stream, matrix, infos);
  });
  m.def("swap_rows", [](Stream stream, py::handle x, py::handle pivots, bool back) {
    Operands given("swap_rows", stream);
    auto matrix = given.one("x", x), numbers = given.one("pivots", pivots);
    py::gil_scoped_release unlocked;
    kernels::swap_rows(stream, matrix, numbers, back);
  });
  m.def("pivots_to_permutation", [](Stream stream, py::handle pivots, py::handle permutation) {
    Operands given("pivots_to_permutation", stream);
    auto numbers = given.one("pivots", pivots), order = given.one("permutation", permutation);
    py::gil_scoped_release unlocked;
    kernels::pivots_to_permutation(stream, numbers, order);
  });
  m.def("fill_failed_with_nan", [](Stream stream, py::handle a, py::handle info) {
    Operands given("fill_failed_with_nan", stream);
    auto matrix = given.one("a", a), infos = given.one("info", info);
    py::gil_scoped_release unlocked;
    kernels::fill_failed_with_nan(stream, matrix, infos);
  });
}

}  // namespace xpu::bindings

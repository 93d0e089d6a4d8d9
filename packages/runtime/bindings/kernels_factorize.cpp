#include "tensor.h"
#include "xpu/kernels/factorize.h"

namespace xpu::bindings {

void bind_kernels_factorize(py::module_& m) {
  m.def("solve_triangle",
        [](Stream stream, py::handle a, py::handle x, bool upper, bool unit, bool conjugate) {
          auto matrix = tensor_of(a), unknowns = tensor_of(x);
          py::gil_scoped_release unlocked;
          kernels::solve_triangle(stream, matrix, unknowns, {upper, unit, conjugate});
        });
  m.def("factorize_lu", [](Stream stream, py::handle a, py::handle pivots, py::handle info, bool pivot) {
    auto matrix = tensor_of(a), numbers = tensor_of(pivots), infos = tensor_of(info);
    py::gil_scoped_release unlocked;
    kernels::factorize_lu(stream, matrix, numbers, infos, pivot);
  });
  m.def("factorize_cholesky", [](Stream stream, py::handle a, py::handle info) {
    auto matrix = tensor_of(a), infos = tensor_of(info);
    py::gil_scoped_release unlocked;
    kernels::factorize_cholesky(stream, matrix, infos);
  });
  m.def("swap_rows", [](Stream stream, py::handle x, py::handle pivots, bool back) {
    auto matrix = tensor_of(x), numbers = tensor_of(pivots);
    py::gil_scoped_release unlocked;
    kernels::swap_rows(stream, matrix, numbers, back);
  });
  m.def("permutation_of", [](Stream stream, py::handle pivots, py::handle permutation) {
    auto numbers = tensor_of(pivots), order = tensor_of(permutation);
    py::gil_scoped_release unlocked;
    kernels::permutation_of(stream, numbers, order);
  });
  m.def("spoil_failed", [](Stream stream, py::handle a, py::handle info) {
    auto matrix = tensor_of(a), infos = tensor_of(info);
    py::gil_scoped_release unlocked;
    kernels::spoil_failed(stream, matrix, infos);
  });
}

}  // namespace xpu::bindings

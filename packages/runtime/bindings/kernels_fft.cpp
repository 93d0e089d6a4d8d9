#include "operands.h"
#include "xpu/kernels/fft.h"

namespace xpu::bindings {

void bind_kernels_fft(py::module_& m) {
  m.def("fft", [](Stream stream, py::handle out, py::handle in, int dim, bool inverse, double scale) {
    Operands given("fft", stream);
    auto to = given.one("out", out), from = given.one("in", in);
    py::gil_scoped_release unlocked;
    kernels::fft(stream, to, from, dim, {inverse, scale});
  });
}

}  // namespace xpu::bindings

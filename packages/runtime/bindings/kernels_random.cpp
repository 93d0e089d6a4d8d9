#include "operands.h"
#include "xpu/kernels/random.h"

namespace xpu::bindings {
namespace {

// A Generator, or (seed, offset) as Generator.take gives it.
kernels::RandomSource source_of(py::handle value) {
  if (py::isinstance<Generator>(value)) return value.cast<Generator&>();
  auto state = value.cast<std::pair<std::uint64_t, std::uint64_t>>();
  return Philox{state.first, state.second};
}

template <class... Numbers>
void bind_fill(py::module_& m, const char* name,
               void (*fill)(Stream, kernels::RandomSource, const Tensor&, Numbers...)) {
  m.def(name, [name, fill](Stream stream, py::handle source, py::handle out, Numbers... numbers) {
    auto from = source_of(source);
    Operands given(name, stream);
    auto to = given.one("out", out);
    py::gil_scoped_release unlocked;
    fill(stream, from, to, numbers...);
  });
}

}  // namespace

void bind_kernels_random(py::module_& m) {
  bind_fill(m, "random_bits", &kernels::random_bits);
  bind_fill(m, "random_integers", &kernels::random_integers);
  bind_fill<double>(m, "random_bernoulli", &kernels::bernoulli);
  bind_fill(m, "random_uniform", &kernels::uniform);
  bind_fill(m, "random_normal", &kernels::normal);
  bind_fill(m, "random_log_normal", &kernels::log_normal);
  bind_fill(m, "random_exponential", &kernels::exponential);
  bind_fill(m, "random_cauchy", &kernels::cauchy);
  bind_fill(m, "random_geometric", &kernels::geometric);
  m.def("random_bernoulli_each", [](Stream stream, py::handle source, py::handle out, py::handle chances) {
    auto from = source_of(source);
    Operands given("random_bernoulli_each", stream);
    auto to = given.one("out", out), p = given.one("chances", chances);
    py::gil_scoped_release unlocked;
    kernels::bernoulli(stream, from, to, p);
  });
}

}  // namespace xpu::bindings

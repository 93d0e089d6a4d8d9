#include <pybind11/stl.h>

#include "operands.h"
#include "scalar.h"
#include "xpu/kernels/index.h"

namespace xpu::bindings {
namespace {

using kernels::Combiner;
using kernels::IndexOptions;
using Dims = std::vector<int>;

// None stands for a dimension of which all is taken.
std::vector<Tensor> index_tensors(const Operands& given, const py::sequence& arrays) {
  std::vector<Tensor> list;
  for (auto array : arrays) list.push_back(given.maybe("indices", array).value_or(Tensor()));
  return list;
}

void scatter(Stream stream, py::handle out, int dim, py::handle index, py::handle src,
             const Combiner& combiner, IndexOptions options) {
  Operands given("scatter", stream);
  auto to = given.one("out", out), at = given.one("index", index);
  bool number = PyNumber_Check(src.ptr()) && !py::hasattr(src, "_tensor");
  if (number) {
    auto value = scalar_of(src);
    py::gil_scoped_release unlocked;
    return kernels::scatter(stream, to, dim, at, value, combiner, options);
  }
  auto from = given.one("src", src);
  py::gil_scoped_release unlocked;
  kernels::scatter(stream, to, dim, at, from, combiner, options);
}

void bind_reads(py::module_& m) {
  m.def("gather",
        [](Stream stream, py::handle out, py::handle x, int dim, py::handle index, IndexOptions options) {
          Operands given("gather", stream);
          auto to = given.one("out", out), from = given.one("x", x), at = given.one("index", index);
          py::gil_scoped_release unlocked;
          kernels::gather(stream, to, from, dim, at, options);
        });
  m.def("index_select",
        [](Stream stream, py::handle out, py::handle x, int dim, py::handle index, IndexOptions options) {
          Operands given("index_select", stream);
          auto to = given.one("out", out), from = given.one("x", x), at = given.one("index", index);
          py::gil_scoped_release unlocked;
          kernels::index_select(stream, to, from, dim, at, options);
        });
  m.def("index",
        [](Stream stream, py::handle out, py::handle x, const py::sequence& indices, IndexOptions options) {
          Operands given("index", stream);
          auto to = given.one("out", out), from = given.one("x", x);
          auto at = index_tensors(given, indices);
          py::gil_scoped_release unlocked;
          kernels::index(stream, to, from, at, options);
        });
  m.def("index_shape", [](int device, py::handle x, const py::sequence& indices) {
    Operands given("index_shape", device);
    Tensor shape = kernels::index_shape(given.one("x", x), index_tensors(given, indices));
    return std::vector<std::int64_t>(shape.shape, shape.shape + shape.ndim);
  });
  m.def("gather_slices",
        [](Stream stream, py::handle out, py::handle operand, py::handle start_indices, const Dims& offset,
           const Dims& collapsed, const Dims& batching, const Dims& index_batching, const Dims& map,
           int vector_dim, const std::vector<std::int64_t>& sizes) {
          Operands given("gather_slices", stream);
          auto to = given.one("out", out), from = given.one("operand", operand),
               at = given.one("start_indices", start_indices);
          py::gil_scoped_release unlocked;
          kernels::gather_slices(stream, to, from, at,
                                 {offset, collapsed, batching, index_batching, map, vector_dim}, sizes);
        });
}

void bind_writes(py::module_& m) {
  m.def("scatter", &scatter);
  m.def("scatter_mean", [](Stream stream, py::handle out, int dim, py::handle index, py::handle src,
                           bool include_self, IndexOptions options) {
    Operands given("scatter_mean", stream);
    auto to = given.one("out", out), at = given.one("index", index), from = given.one("src", src);
    py::gil_scoped_release unlocked;
    kernels::scatter_mean(stream, to, dim, at, from, include_self, options);
  });
  m.def("index_combine", [](Stream stream, py::handle out, int dim, py::handle index, py::handle src,
                            const Combiner& combiner, IndexOptions options) {
    Operands given("index_combine", stream);
    auto to = given.one("out", out), at = given.one("index", index), from = given.one("src", src);
    py::gil_scoped_release unlocked;
    kernels::index_combine(stream, to, dim, at, from, combiner, options);
  });
  m.def("embedding_backward", [](Stream stream, py::handle grad_weight, py::handle grad, py::handle index,
                                 std::optional<std::int64_t> padding_index, IndexOptions options) {
    Operands given("embedding_backward", stream);
    auto to = given.one("grad_weight", grad_weight), from = given.one("grad", grad),
         at = given.one("index", index);
    py::gil_scoped_release unlocked;
    kernels::embedding_backward(stream, to, from, at, padding_index, options);
  });
  m.def("index_put", [](Stream stream, py::handle x, const py::sequence& indices, py::handle values,
                        const Combiner& combiner, IndexOptions options) {
    Operands given("index_put", stream);
    auto to = given.one("x", x), from = given.one("values", values);
    auto at = index_tensors(given, indices);
    py::gil_scoped_release unlocked;
    kernels::index_put(stream, to, at, from, combiner, options);
  });
  m.def("scatter_slices", [](Stream stream, py::handle out, py::handle indices, py::handle updates,
                             const Dims& window, const Dims& inserted, const Dims& batching,
                             const Dims& index_batching, const Dims& map, int vector_dim,
                             const Combiner& combiner, bool deterministic) {
    Operands given("scatter_slices", stream);
    auto to = given.one("out", out), at = given.one("indices", indices), from = given.one("updates", updates);
    py::gil_scoped_release unlocked;
    kernels::scatter_slices(stream, to, at, from,
                            {window, inserted, batching, index_batching, map, vector_dim}, combiner,
                            deterministic);
  });
}

}  // namespace

void bind_kernels_index(py::module_& m) {
  py::enum_<kernels::OutOfRange>(m, "OutOfRange")
      .value("fault", kernels::OutOfRange::fault)
      .value("clamp", kernels::OutOfRange::clamp)
      .value("drop", kernels::OutOfRange::drop);
  py::enum_<kernels::Combine>(m, "Combine")
      .value("replace", kernels::Combine::replace)
      .value("add", kernels::Combine::add)
      .value("multiply", kernels::Combine::multiply)
      .value("minimum", kernels::Combine::minimum)
      .value("maximum", kernels::Combine::maximum);
  py::class_<IndexOptions>(m, "IndexOptions").def(py::init<kernels::OutOfRange, bool>());
  py::class_<Combiner>(m, "Combiner", "A way of combining from a C++ expression.")
      .def(py::init(
          [](const std::string& name, const std::string& combine, const std::vector<std::string>& headers) {
            return new Combiner({name, combine, headers});
          }));
  m.def("combiner", &kernels::combiner, py::return_value_policy::reference);
  bind_reads(m);
  bind_writes(m);
}

}  // namespace xpu::bindings

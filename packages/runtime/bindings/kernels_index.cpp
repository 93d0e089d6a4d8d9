#include <pybind11/stl.h>

#include "scalar.h"
#include "tensor.h"
#include "xpu/kernels/index.h"

namespace xpu::bindings {
namespace {

using kernels::Combiner;
using kernels::IndexOptions;
using Dims = std::vector<int>;

// None stands for a dimension of which all is taken.
std::vector<Tensor> index_tensors(const py::sequence& arrays) {
  std::vector<Tensor> list;
  for (auto array : arrays) list.push_back(optional_tensor(array).value_or(Tensor()));
  return list;
}

void scatter(Stream stream, py::handle out, int dim, py::handle index, py::handle src,
             const Combiner& combiner, IndexOptions options) {
  auto to = tensor_of(out), at = tensor_of(index);
  bool number = PyNumber_Check(src.ptr()) && !py::hasattr(src, "_tensor");
  if (number) {
    auto value = scalar_of(src);
    py::gil_scoped_release unlocked;
    return kernels::scatter(stream, to, dim, at, value, combiner, options);
  }
  auto from = tensor_of(src);
  py::gil_scoped_release unlocked;
  kernels::scatter(stream, to, dim, at, from, combiner, options);
}

void bind_reads(py::module_& m) {
  m.def("gather",
        [](Stream stream, py::handle out, py::handle x, int dim, py::handle index, IndexOptions options) {
          auto to = tensor_of(out), from = tensor_of(x), at = tensor_of(index);
          py::gil_scoped_release unlocked;
          kernels::gather(stream, to, from, dim, at, options);
        });
  m.def("index_select",
        [](Stream stream, py::handle out, py::handle x, int dim, py::handle index, IndexOptions options) {
          auto to = tensor_of(out), from = tensor_of(x), at = tensor_of(index);
          py::gil_scoped_release unlocked;
          kernels::index_select(stream, to, from, dim, at, options);
        });
  m.def("index",
        [](Stream stream, py::handle out, py::handle x, const py::sequence& indices, IndexOptions options) {
          auto to = tensor_of(out), from = tensor_of(x);
          auto at = index_tensors(indices);
          py::gil_scoped_release unlocked;
          kernels::index(stream, to, from, at, options);
        });
  m.def("index_shape", [](py::handle x, const py::sequence& indices) {
    Tensor shape = kernels::index_shape(tensor_of(x), index_tensors(indices));
    return std::vector<std::int64_t>(shape.shape, shape.shape + shape.ndim);
  });
  m.def("gather_slices",
        [](Stream stream, py::handle out, py::handle operand, py::handle start_indices, const Dims& offset,
           const Dims& collapsed, const Dims& batching, const Dims& index_batching, const Dims& map,
           int vector_dim, const std::vector<std::int64_t>& sizes) {
          auto to = tensor_of(out), from = tensor_of(operand), at = tensor_of(start_indices);
          py::gil_scoped_release unlocked;
          kernels::gather_slices(stream, to, from, at,
                                 {offset, collapsed, batching, index_batching, map, vector_dim}, sizes);
        });
}

void bind_writes(py::module_& m) {
  m.def("scatter", &scatter);
  m.def("scatter_mean", [](Stream stream, py::handle out, int dim, py::handle index, py::handle src,
                           bool include_self, IndexOptions options) {
    auto to = tensor_of(out), at = tensor_of(index), from = tensor_of(src);
    py::gil_scoped_release unlocked;
    kernels::scatter_mean(stream, to, dim, at, from, include_self, options);
  });
  m.def("index_combine", [](Stream stream, py::handle out, int dim, py::handle index, py::handle src,
                            const Combiner& combiner, IndexOptions options) {
    auto to = tensor_of(out), at = tensor_of(index), from = tensor_of(src);
    py::gil_scoped_release unlocked;
    kernels::index_combine(stream, to, dim, at, from, combiner, options);
  });
  m.def("embedding_backward", [](Stream stream, py::handle grad_weight, py::handle grad, py::handle index,
                                 std::optional<std::int64_t> padding_index, IndexOptions options) {
    auto to = tensor_of(grad_weight), from = tensor_of(grad), at = tensor_of(index);
    py::gil_scoped_release unlocked;
    kernels::embedding_backward(stream, to, from, at, padding_index, options);
  });
  m.def("index_put", [](Stream stream, py::handle x, const py::sequence& indices, py::handle values,
                        const Combiner& combiner, IndexOptions options) {
    auto to = tensor_of(x), from = tensor_of(values);
    auto at = index_tensors(indices);
    py::gil_scoped_release unlocked;
    kernels::index_put(stream, to, at, from, combiner, options);
  });
  m.def("scatter_slices",
        [](Stream stream, py::handle out, py::handle indices, py::handle updates, const Dims& window,
           const Dims& inserted, const Dims& batching, const Dims& index_batching, const Dims& map,
           int vector_dim, const Combiner& combiner, bool deterministic) {
          auto to = tensor_of(out), at = tensor_of(indices), from = tensor_of(updates);
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

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "bindings.h"
#include "xpu/error.h"
#include "xpu/fault.h"
#include "xpu/module.h"

namespace xpu::bindings {
namespace {

// Widths must be said, so plain ints and floats are refused.
void add(Args& list, py::handle value, std::size_t index) {
  if (py::hasattr(value, "pointer")) {
    list.add(reinterpret_cast<void*>(value.attr("pointer").cast<std::uintptr_t>()));
  } else if (py::isinstance<py::bytes>(value)) {
    auto bytes = value.cast<std::string_view>();
    list.add_bytes(bytes.data(), bytes.size());
  } else if (py::hasattr(value, "dtype") && py::hasattr(value, "tobytes")) {
    auto bytes = value.attr("tobytes")().cast<std::string>();
    list.add_bytes(bytes.data(), bytes.size());
  } else {
    fail<UsageError>(
        "kernel argument ", index, ": got ", py::str(py::type::of(value)).cast<std::string>(),
        ", expected an Array, a Buffer, a numpy scalar (np.int64(3), np.float32(2)) or bytes for a struct");
  }
}

NdRange range_of(const std::vector<std::size_t>& global, const std::vector<std::size_t>& local) {
  expect<UsageError>(global.size() == local.size() && !global.empty() && global.size() <= 3,
                     "launch: global and local sizes must have the same 1 to 3 dimensions; got ",
                     global.size(), " and ", local.size());
  NdRange range;
  range.dims = static_cast<int>(global.size());
  for (std::size_t i = 0; i < global.size(); ++i) {
    range.global[i] = global[i];
    range.local[i] = local[i];
  }
  return range;
}

}  // namespace

void bind_kernel(py::module_& m) {
  py::class_<Kernel>(m, "Kernel", "A kernel of one device.")
      .def_property_readonly("name", &Kernel::name)
      .def_property_readonly("device", &Kernel::device)
      .def_property_readonly("max_work_group_size", &Kernel::max_work_group_size);
  m.def("build_kernel", &build_kernel, py::arg("device"), py::arg("source"), py::arg("name"),
        py::arg("options"), Unlocked());
  m.def(
      "build_spirv",
      [](int device, const std::string& source, const std::vector<std::string>& options) {
        std::vector<std::uint8_t> spirv;
        {
          py::gil_scoped_release unlocked;
          spirv = build_spirv(device, source, options);
        }
        return py::bytes(reinterpret_cast<const char*>(spirv.data()), spirv.size());
      },
      py::arg("device"), py::arg("source"), py::arg("options"));
  m.def(
      "kernel_from_spirv",
      [](int device, py::bytes spirv, const std::string& name) {
        std::string_view text = spirv;
        std::vector<std::uint8_t> words(text.begin(), text.end());
        py::gil_scoped_release unlocked;
        return kernel_from_spirv(device, words, name);
      },
      py::arg("device"), py::arg("spirv"), py::arg("name"));
  m.def(
      "launch",
      [](Stream stream, const Kernel& kernel, const std::vector<std::size_t>& global,
         const std::vector<std::size_t>& local, py::sequence values) {
        Args list;
        for (std::size_t i = 0; i < values.size(); ++i) add(list, values[i], i);
        auto range = range_of(global, local);
        py::gil_scoped_release unlocked;
        launch(stream, kernel, range, list);
      },
      py::arg("stream"), py::arg("kernel"), py::arg("global_size"), py::arg("local_size"), py::arg("args"));
  m.attr("max_arguments") = Args::max_count;
  m.def(
      "fault_record", [](int device) { return reinterpret_cast<std::uintptr_t>(fault_record(device)); },
      py::arg("device"), "Address of the record that kernels write failed checks to.", Unlocked());
  m.def("fault_code", &fault_code, py::arg("op"), py::arg("text"),
        "The code of a check; text may use {a} and {b}.");
}

}  // namespace xpu::bindings

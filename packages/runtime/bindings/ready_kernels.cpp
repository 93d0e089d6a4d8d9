#include "xpu/ready_kernels.h"

#include <pybind11/stl.h>

#include "bindings.h"
#include "byte_strings.h"

namespace xpu::bindings {

void bind_ready_kernels(py::module_& m) {
  m.def(
      "ready_spirv",
      [](int device) {
        py::list modules;
        for (auto& spirv : ready_spirv(device)) modules.append(to_bytes(spirv));
        return modules;
      },
      py::arg("device"));
  m.def("ready_image_count", &ready_image_count, py::arg("device"), Unlocked());
  m.def("use_images_that_ship", &use_images_that_ship, py::arg("wanted"));
  m.def(
      "build_ready_kernel",
      [](int device, const std::string& source, const std::vector<std::string>& options, int sub_group_size,
         int cpu_vector_bytes) {
        ReadyKernel built;
        {
          py::gil_scoped_release unlocked;
          built = build_ready_kernel(device, source, options, sub_group_size, cpu_vector_bytes);
        }
        return py::make_tuple(to_bytes(built.key), to_bytes(built.spirv));
      },
      py::arg("device"), py::arg("source"), py::arg("options"), py::arg("sub_group_size"),
      py::arg("cpu_vector_bytes"), "Return the key and the SPIR-V of a kernel that ships with the library.");
  m.def(
      "build_ready_image",
      [](int device, py::bytes spirv) {
        auto module = to_vector(spirv);
        std::vector<std::uint8_t> image;
        {
          py::gil_scoped_release unlocked;
          image = build_ready_image(device, module);
        }
        return to_bytes(image);
      },
      py::arg("device"), py::arg("spirv"), "Return the native image of SPIR-V, to ship.");
  m.def(
      "ready_image_key",
      [](int device, py::bytes spirv, int vector_bytes) {
        return to_bytes(ready_image_key(device, to_vector(spirv), vector_bytes));
      },
      py::arg("device"), py::arg("spirv"), py::arg("vector_bytes"),
      "Return the key of an image for CPUs whose vector registers have so many bytes.");
  m.def(
      "build_package_entries",
      [](int device, const std::string& source) {
        std::vector<PackageEntry> built;
        {
          py::gil_scoped_release unlocked;
          built = build_package_entries(device, source);
        }
        py::list entries;
        for (auto& entry : built)
          entries.append(py::make_tuple(to_bytes(entry.key), to_bytes(entry.content)));
        return entries;
      },
      py::arg("device"), py::arg("source"), "Return what a package holds of a kernel: keys and contents.");
  m.def("add_kernels", &add_kernels, py::arg("path"), Unlocked());
}

}  // namespace xpu::bindings

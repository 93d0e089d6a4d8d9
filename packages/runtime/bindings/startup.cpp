#include <pybind11/stl.h>

#include "bindings.h"
#include "xpu/cache.h"
#include "xpu/device.h"
#include "xpu/process.h"

namespace xpu::bindings {

void bind_startup(py::module_& m) {
  m.attr("abi_version") = XPU_RUNTIME_ABI;
  m.def("is_initialized", &is_initialized, "True once the device stack has been used in this process.");
  m.def("generic_backend", &generic_backend, "True when only plain SYCL is used.", Unlocked());
  m.def("loaded_libraries", &loaded_libraries, py::arg("prefix"),
        "Paths of loaded libraries by file name prefix.");
  m.def("vendor_folder", &vendor_folder, "The folder the SYCL runtime was loaded from.");
  m.def("cache_folder", &cache_folder, "Where kernels are cached; empty when caching is off.");
  m.def("shipped_folder", &shipped_folder, "Where the SPIR-V that ships with the wheel lies.");
  m.def(
      "cache_read",
      [](const std::string& key) -> std::optional<py::bytes> {
        auto payload = cache_read(key);
        if (!payload) return {};
        return py::bytes(reinterpret_cast<const char*>(payload->data()), payload->size());
      },
      py::arg("key"), "What is kept under a file's name.");
  m.def(
      "cache_write",
      [](const std::string& key, std::string_view payload) {
        cache_write(key, Bytes(payload.begin(), payload.end()));
      },
      py::arg("key"), py::arg("payload"), "Keep it.");
  m.def("compiler_id", &compiler_id, "Identifies the kernel compiler in cache keys.");
}

}  // namespace xpu::bindings

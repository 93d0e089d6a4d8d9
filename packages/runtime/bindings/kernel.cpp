#include "kernel.h"

#include <pybind11/stl.h>

#include "address.h"
#include "byte_strings.h"
#include "launcher.h"
#include "xpu/build_time.h"
#include "xpu/enqueue.h"
#include "xpu/error.h"
#include "xpu/fault.h"

namespace xpu::bindings {
namespace {

// Widths must be said, so plain ints and floats are refused.
void add(ManyArgs& list, py::handle value, const Kernel& kernel, std::size_t index, Stream stream) {
  void* address = nullptr;
  if (py::isinstance<py::bytes>(value)) {
    auto bytes = value.cast<std::string_view>();
    list.add_bytes(bytes.data(), bytes.size());
  } else if (find_address(value, kernel, index, stream, &address)) {
    list.add_bytes(&address, sizeof address, true);
  } else if (py::hasattr(value, "dtype") && py::hasattr(value, "tobytes")) {
    auto bytes = value.attr("tobytes")().cast<std::string>();
    list.add_bytes(bytes.data(), bytes.size());
  } else {
    fail<UsageError>(
        Named{kernel}, ": argument ", index, ": got ", py::str(py::type::of(value)).cast<std::string>(),
        ", expected a tensor, an array, a numpy scalar (np.int64(3), np.float32(2)) or bytes for a "
        "struct");
  }
}

py::dict resources_of(const OwnedKernel& kernel) {
  auto resources = kernel.get().resources();
  py::dict all;
  all["registers"] = resources.registers;
  all["spill_bytes"] = resources.spill_bytes;
  all["private_bytes"] = resources.private_bytes;
  all["local_bytes"] = resources.local_bytes;
  all["sub_group_size"] = resources.sub_group_size;
  all["max_work_group_size"] = resources.max_work_group_size;
  return all;
}

// Of the calling thread.
std::vector<std::unique_ptr<DryRunGuard>>& dry_runs() {
  thread_local std::vector<std::unique_ptr<DryRunGuard>> guards;
  return guards;
}

}  // namespace

void bind_kernel(py::module_& m) {
  py::class_<OwnedKernel>(m, "Kernel", "A kernel of one device, unloaded when nothing refers to it.")
      .def_property_readonly("name", [](const OwnedKernel& k) { return k.get().name(); })
      .def_property_readonly("device", [](const OwnedKernel& k) { return k.get().device(); })
      .def_property_readonly("max_work_group_size",
                             [](const OwnedKernel& k) { return k.get().max_work_group_size(); })
      .def("resources", &resources_of,
           "Return what the kernel takes of its device, by name; None for what the driver does not tell.")
      .def(
          "occupancy",
          [](const OwnedKernel& k, std::size_t work_group_size) {
            return k.get().occupancy(work_group_size);
          },
          py::arg("work_group_size"),
          "Return the part of the device's hardware threads that work-groups of this size can use at once; "
          "None if the device does not tell.",
          Unlocked())
      .def("__repr__", [](const OwnedKernel& k) {
        return join("<", Named{k.get()}, " of device ", k.get().device(), ">");
      });
  m.def(
      "build_kernel",
      [](int device, const std::string& source, const std::string& name,
         const std::vector<std::string>& options, int sub_group_size) {
        return OwnedKernel{build_shared_kernel(device, source, name, options, sub_group_size)};
      },
      py::arg("device"), py::arg("source"), py::arg("name"), py::arg("options"), py::arg("sub_group_size"),
      Unlocked());
  m.def(
      "build_spirv",
      [](int device, const std::string& source, const std::vector<std::string>& options, int sub_group_size) {
        std::vector<std::uint8_t> spirv;
        {
          py::gil_scoped_release unlocked;
          spirv = build_spirv(device, source, options, sub_group_size);
        }
        return to_bytes(spirv);
      },
      py::arg("device"), py::arg("source"), py::arg("options"), py::arg("sub_group_size"));
  m.def(
      "explain_kernel",
      [](int device, const std::string& source, const std::vector<std::string>& options, int sub_group_size) {
        py::list answers;
        for (auto& [wanted, store, found, answer] : explain_kernel(device, source, options, sub_group_size))
          answers.append(py::make_tuple(wanted, store, found, answer));
        return answers;
      },
      py::arg("device"), py::arg("source"), py::arg("options"), py::arg("sub_group_size"));
  m.def(
      "kernel_from_spirv",
      [](int device, py::bytes spirv, const std::string& name) {
        auto module = to_vector(spirv);
        py::gil_scoped_release unlocked;
        return OwnedKernel{kernel_from_spirv(device, module, name)};
      },
      py::arg("device"), py::arg("spirv"), py::arg("name"));
  m.def(
      "launch",
      [](Stream stream, const OwnedKernel& owned, py::handle global, py::handle local, py::sequence values) {
        auto kernel = owned.get();
        auto range = read_range(global.ptr(), local.ptr(), kernel);
        ManyArgs list;
        for (std::size_t i = 0; i < values.size(); ++i) add(list, values[i], kernel, i, stream);
        py::gil_scoped_release unlocked;
        launch(stream, kernel, range, list);
      },
      py::arg("stream"), py::arg("kernel"), py::arg("global_size"), py::arg("local_size"), py::arg("args"));
  m.def(
      "set_build_time_limit",
      [](std::int64_t milliseconds) { set_build_time_limit(std::chrono::milliseconds(milliseconds)); },
      py::arg("milliseconds"), "Set the time after which a build ends with a CompileError.");
  m.def("prestart_build_helpers", &prestart_build_helpers, py::arg("device"), Unlocked());
  m.def("enter_dry_run", [] { dry_runs().push_back(std::make_unique<DryRunGuard>()); });
  m.def("exit_dry_run", [] {
    if (!dry_runs().empty()) dry_runs().pop_back();
  });
  m.attr("max_arguments") = Args::max_count;
  m.def(
      "fault_record", [](int device) { return reinterpret_cast<std::uintptr_t>(fault_record(device)); },
      py::arg("device"), "Address of the record that kernels write failed checks to.", Unlocked());
  m.def("fault_code", &fault_code, py::arg("op"), py::arg("text"),
        "The code of a check; text may use {a} and {b}.");
}

}  // namespace xpu::bindings

// The Python module torch_xpu._distributed, loaded at the first process group.
#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "distributed/group.h"
#include "distributed/oneccl/library.h"
#include "distributed/oneccl/transport.h"
#include "distributed/process_group.h"
#include "xpu/abi.h"

namespace py = pybind11;
using torch_xpu::distributed::ProcessGroupXCCL;
namespace oneccl = torch_xpu::distributed::oneccl;

PYBIND11_MODULE(_distributed, m) {
  xpu::require_abi(XPU_RUNTIME_ABI, "torch-xpu");
  using Options = ProcessGroupXCCL::Options;
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  auto c10d = py::module_::import("torch._C._distributed_c10d");
  py::class_<ProcessGroupXCCL, c10::intrusive_ptr<ProcessGroupXCCL>> group(m, "StagedProcessGroup",
                                                                           c10d.attr("Backend"));
  py::class_<Options, c10::intrusive_ptr<Options>>(group, "Options", c10d.attr("Backend").attr("Options"))
      .def(py::init([] { return c10::make_intrusive<Options>(); }))
      .def_readwrite("is_high_priority_stream", &Options::is_high_priority_stream);
  group.def(py::init([](const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                        c10::intrusive_ptr<Options> options, c10::intrusive_ptr<c10d::Backend> transport,
                        std::string name) {
              return c10::make_intrusive<ProcessGroupXCCL>(store, rank, size, std::move(options),
                                                           std::move(transport), std::move(name));
            }),
            py::arg("store"), py::arg("rank"), py::arg("size"), py::arg("options"), py::arg("transport"),
            py::arg("name"), Unlocked());
  py::class_<oneccl::Transport, c10::intrusive_ptr<oneccl::Transport>>(m, "OneCclTransport",
                                                                       c10d.attr("Backend"))
      .def(py::init([](c10::intrusive_ptr<c10d::Store> store, int rank, int size,
                       c10::intrusive_ptr<c10d::Backend> gloo, std::chrono::milliseconds timeout) {
             return c10::make_intrusive<oneccl::Transport>(std::move(store), rank, size, std::move(gloo),
                                                           timeout);
           }),
           py::arg("store"), py::arg("rank"), py::arg("size"), py::arg("gloo"), py::arg("timeout"),
           Unlocked());
  m.def("load_oneccl", &oneccl::load, py::arg("paths"),
        "Loads oneCCL's libraries, those that others need first.", Unlocked());
  m.def("end_groups_within", &torch_xpu::distributed::end_groups_within, py::arg("timeout"),
        "Waits for pending collectives of all groups, and ends those that have not completed.", Unlocked());
}

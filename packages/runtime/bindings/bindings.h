// One function for each concept's bindings; module.cpp calls them all.
#pragma once

#include <pybind11/pybind11.h>

#include "xpu/interrupt.h"

namespace xpu::bindings {

namespace py = pybind11;
/// Blocking calls release the GIL, and are operations that Ctrl-C may end before they enqueue work.
using Unlocked = py::call_guard<OperationScope, py::gil_scoped_release>;

void bind_error(py::module_& m);
void bind_device(py::module_& m);
void bind_stream(py::module_& m);
void bind_event(py::module_& m);
void bind_kernel(py::module_& m);
void bind_launcher(py::module_& m);
void bind_address(py::module_& m);
void bind_copy(py::module_& m);
void bind_memory(py::module_& m);
void bind_dnn(py::module_& m);
void bind_generator(py::module_& m);
void bind_graph(py::module_& m);
void bind_tensor(py::module_& m);
void bind_trace(py::module_& m);
void bind_ready_kernels(py::module_& m);
void bind_kernels(py::module_& m);
void bind_kernels_factorize(py::module_& m);
void bind_kernels_fft(py::module_& m);
void bind_kernels_index(py::module_& m);
void bind_kernels_random(py::module_& m);
void bind_kernels_scan(py::module_& m);
void bind_kernels_select(py::module_& m);
void bind_kernels_sort(py::module_& m);
void bind_reduce(py::module_& m);
void bind_startup(py::module_& m);

}  // namespace xpu::bindings

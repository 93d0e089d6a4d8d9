#include "bindings.h"

PYBIND11_MODULE(_C, m) {
  using namespace xpu::bindings;
  m.doc() = "The native half of xpu_runtime; use the Python names around it.";
  bind_error(m);
  bind_startup(m);
  bind_device(m);
  bind_stream(m);
  bind_event(m);
  bind_kernel(m);
  bind_ready_kernels(m);
  bind_address(m);
  bind_launcher(m);
  bind_copy(m);
  bind_memory(m);
  bind_dnn(m);
  bind_generator(m);
  bind_graph(m);
  bind_tensor(m);
  bind_trace(m);
  bind_kernels(m);
  bind_kernels_factorize(m);
  bind_kernels_fft(m);
  bind_kernels_index(m);
  bind_kernels_random(m);
  bind_kernels_scan(m);
  bind_kernels_select(m);
  bind_kernels_sort(m);
  bind_reduce(m);
}

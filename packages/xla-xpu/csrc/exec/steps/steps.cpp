#include "exec/steps.h"

#include <map>
#include <string>

#include "xpu/error.h"

namespace xla_xpu {

std::unique_ptr<Step> make_step(const PlanFields& fields) {
  using Make = std::unique_ptr<Step> (*)(const PlanFields&);
  static const std::map<std::string, Make> kinds{
      {"kernel", make_kernel},
      {"copy", make_copy},
      {"fill", make_fill},
      {"reduce", make_reduce},
      {"matmul", make_matmul},
      {"convolution", make_convolution},
      {"gather", make_gather},
      {"scatter", make_scatter},
      {"sort", make_sort},
      {"comparison_sort", make_comparison_sort},
      {"topk", make_topk},
      {"scan", make_scan},
      {"fft", make_fft},
      {"loop", make_loop},
      {"branch", make_branch},
      {"host_call", make_host_call},
      {"buffer_call", make_buffer_call},
      {"cholesky", make_cholesky},
      {"lu", make_lu},
      {"solve_triangle", make_solve_triangle},
      {"exchange", make_exchange},
      {"device_id", make_device_id},
  };
  auto name = fields.get<std::string>("step");
  auto found = kinds.find(name);
  xpu::expect<xpu::UsageError>(found != kinds.end(), "plan: unknown step \"", name, "\"");
  return found->second(fields);
}

Steps make_steps(const py::list& list) {
  Steps steps;
  for (auto item : list) steps.push_back(make_step(PlanFields(py::cast<py::dict>(item))));
  return steps;
}

}  // namespace xla_xpu

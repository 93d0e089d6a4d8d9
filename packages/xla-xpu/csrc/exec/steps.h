// Factories of the kinds of steps, which the files in steps/ define.
#pragma once

#include <memory>

#include "exec/plan_fields.h"
#include "exec/program.h"

namespace xla_xpu {

/// Creates the step that `fields["step"]` names. Throws UsageError for an unknown name.
std::unique_ptr<Step> make_step(const PlanFields& fields);
/// Creates a step for each dictionary in `list`.
Steps make_steps(const py::list& list);

std::unique_ptr<Step> make_kernel(const PlanFields& fields);
std::unique_ptr<Step> make_copy(const PlanFields& fields);
std::unique_ptr<Step> make_fill(const PlanFields& fields);
std::unique_ptr<Step> make_reduce(const PlanFields& fields);
std::unique_ptr<Step> make_matmul(const PlanFields& fields);
std::unique_ptr<Step> make_convolution(const PlanFields& fields);
std::unique_ptr<Step> make_gather(const PlanFields& fields);
std::unique_ptr<Step> make_scatter(const PlanFields& fields);
std::unique_ptr<Step> make_sort(const PlanFields& fields);
std::unique_ptr<Step> make_topk(const PlanFields& fields);
std::unique_ptr<Step> make_comparison_sort(const PlanFields& fields);
std::unique_ptr<Step> make_scan(const PlanFields& fields);
std::unique_ptr<Step> make_fft(const PlanFields& fields);
std::unique_ptr<Step> make_loop(const PlanFields& fields);
std::unique_ptr<Step> make_branch(const PlanFields& fields);
std::unique_ptr<Step> make_exchange(const PlanFields& fields);
std::unique_ptr<Step> make_device_id(const PlanFields& fields);
std::unique_ptr<Step> make_host_call(const PlanFields& fields);
std::unique_ptr<Step> make_buffer_call(const PlanFields& fields);
std::unique_ptr<Step> make_cholesky(const PlanFields& fields);
std::unique_ptr<Step> make_lu(const PlanFields& fields);
std::unique_ptr<Step> make_solve_triangle(const PlanFields& fields);

}  // namespace xla_xpu

// The kinds of steps, each in a file of its name in steps/.
#pragma once

#include <memory>

#include "exec/fields.h"
#include "exec/program.h"

namespace xla_xpu {

/// The step that `fields["step"]` names. Throws UsageError for an unknown one.
std::unique_ptr<Step> make_step(const Fields& fields);
/// Those of a list of such fields.
Steps make_steps(const py::list& list);

std::unique_ptr<Step> make_kernel(const Fields& fields);
std::unique_ptr<Step> make_copy(const Fields& fields);
std::unique_ptr<Step> make_fill(const Fields& fields);
std::unique_ptr<Step> make_reduce(const Fields& fields);
std::unique_ptr<Step> make_matmul(const Fields& fields);
std::unique_ptr<Step> make_convolution(const Fields& fields);
std::unique_ptr<Step> make_gather(const Fields& fields);
std::unique_ptr<Step> make_scatter(const Fields& fields);
std::unique_ptr<Step> make_sort(const Fields& fields);
std::unique_ptr<Step> make_topk(const Fields& fields);
std::unique_ptr<Step> make_comparison_sort(const Fields& fields);
std::unique_ptr<Step> make_scan(const Fields& fields);
std::unique_ptr<Step> make_fft(const Fields& fields);
std::unique_ptr<Step> make_loop(const Fields& fields);
std::unique_ptr<Step> make_branch(const Fields& fields);
std::unique_ptr<Step> make_exchange(const Fields& fields);
std::unique_ptr<Step> make_number(const Fields& fields);
std::unique_ptr<Step> make_host_call(const Fields& fields);
std::unique_ptr<Step> make_buffer_call(const Fields& fields);
std::unique_ptr<Step> make_cholesky(const Fields& fields);
std::unique_ptr<Step> make_lu(const Fields& fields);
std::unique_ptr<Step> make_solve_triangle(const Fields& fields);

}  // namespace xla_xpu

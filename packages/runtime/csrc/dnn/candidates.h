// Ordered ways to do a problem. The first that does not refuse is kept; the plan remembers what the others
// said.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "dnn/plan.h"
#include "xpu/error.h"

namespace xpu::dnn {

/// Thrown by a candidate that cannot, or should not, do the problem.
struct Rejection {
  std::string reason;
};

template <class... Parts>
void reject_unless(bool condition, const Parts&... parts) {
  if (!condition) throw Rejection{join(parts...)};
}

struct Candidate {
  const char* name;
  /// Fills the plan; returns a word on the implementation ("brg_matmul:avx512_core").
  std::function<std::string(Plan&)> make;
};

/// The cached plan, or the first candidate's that accepts. With a forced candidate only that one is asked.
/// Throws Unsupported with every reason when all refuse.
PlanPtr find_plan(const Problem& problem, const std::function<std::vector<Candidate>()>& candidates);

/// Finds and runs.
inline void run(Stream stream, const Problem& problem,
                const std::function<std::vector<Candidate>()>& candidates) {
  find_plan(problem, candidates)->run(stream, problem);
}

}  // namespace xpu::dnn

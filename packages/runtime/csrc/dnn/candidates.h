// Tries candidates in order. The first that accepts builds the plan, which records why others rejected.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "dnn/plan.h"
#include "xpu/error.h"

namespace xpu::dnn {

/// Thrown by a candidate that does not support the problem, or is slower at it than the next one.
struct Rejection {
  std::string reason;
};

template <class... Parts>
void reject_unless(bool condition, const Parts&... parts) {
  if (!condition) throw Rejection{join(parts...)};
}

struct Candidate {
  const char* name;
  /// Fills the plan and returns the implementation's name ("brg_matmul:avx512_core"). Throws Rejection.
  std::function<std::string(Plan&)> make;
};

/// Returns the cached plan, or builds it by the first candidate that accepts; if one is forced, only that one
/// is tried. Throws Unsupported with every reason if all reject. Thread-safe.
PlanPtr find_plan(const Problem& problem, const std::function<std::vector<Candidate>()>& candidates);

/// Finds the plan and enqueues it.
inline void run(Stream stream, const Problem& problem,
                const std::function<std::vector<Candidate>()>& candidates) {
  find_plan(problem, candidates)->run(stream, problem);
}

}  // namespace xpu::dnn

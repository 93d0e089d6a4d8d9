// How a problem is done: a few steps, each a oneDNN primitive or a kernel, over operands and temporary
// memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dnn/problem.h"
#include "xpu/stream.h"

namespace xpu::dnn {

class Plan;

/// One submission. `pointers` are the problem's operands followed by the plan's temporaries.
class Step {
 public:
  virtual ~Step() = default;
  virtual void run(Stream stream, const std::shared_ptr<const Plan>& plan, void* const* pointers) const = 0;
};

class Plan : public std::enable_shared_from_this<Plan> {
 public:
  explicit Plan(const Problem& problem) : operands_(problem.operands()) {}
  void add(std::unique_ptr<Step> step) { steps_.push_back(std::move(step)); }
  /// Memory that lives for the length of a run; the index by which steps name it.
  int temporary(std::size_t bytes) {
    temporaries_.push_back(bytes);
    return static_cast<int>(operands_ + temporaries_.size()) - 1;
  }
  void run(Stream stream, const Problem& problem) const;

  std::vector<std::string> explanation;  ///< each candidate asked, and what it said
  std::string candidate;                 ///< the one that made it
  std::size_t workspace_bytes = 0;       ///< what it leaves for the plan of a backward

 private:
  std::size_t operands_;
  std::vector<std::unique_ptr<Step>> steps_;
  std::vector<std::size_t> temporaries_;
};

using PlanPtr = std::shared_ptr<Plan>;

}  // namespace xpu::dnn

// The steps that compute a problem, each a oneDNN primitive or a kernel, on operands and scratch memory.
#pragma once

#include <functional>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dnn/problem.h"
#include "xpu/dnn/packed_weights.h"
#include "xpu/stream.h"

namespace xpu::dnn {

class Plan;

/// One submission. `pointers` are the problem's operands followed by the plan's scratch blocks.
class Step {
 public:
  virtual ~Step() = default;
  virtual void run(Stream stream, const std::shared_ptr<const Plan>& plan, void* const* pointers) const = 0;
};

class Plan : public std::enable_shared_from_this<Plan> {
 public:
  explicit Plan(const Problem& problem) : operands_(problem.operands()) {}
  void add(std::unique_ptr<Step> step) { steps_.push_back(std::move(step)); }
  /// Adds memory that lives for one run; returns the index by which steps name it.
  int add_scratch(std::size_t bytes) {
    scratch_bytes_.push_back(bytes);
    return static_cast<int>(operands_ + scratch_bytes_.size()) - 1;
  }
  /// Calls `add_steps`, which adds steps and scratch; the first scratch is the weights' copy in `layout`,
  /// which the steps fill. A run that is given the weights' copies has the steps run only if there is none of
  /// this layout.
  void add_packing(const dnnl::memory::desc& layout, const std::function<void()>& add_steps);
  void run(Stream stream, const Problem& problem, PackedWeights* packed = nullptr) const;

  std::vector<std::string> explanation;  ///< the outcome of each candidate
  std::string candidate;                 ///< the one that built the plan
  std::size_t workspace_bytes = 0;       ///< of the results that it leaves for a backward

 private:
  using Steps = std::vector<std::unique_ptr<Step>>;
  struct Packing {
    dnnl::memory::desc layout;
    std::size_t first_scratch, end_scratch;
    Steps steps;
  };
  class Run;

  std::size_t operands_;
  Steps steps_;
  std::optional<Packing> packing_;
  std::vector<std::size_t> scratch_bytes_;
};

using PlanPtr = std::shared_ptr<Plan>;

}  // namespace xpu::dnn

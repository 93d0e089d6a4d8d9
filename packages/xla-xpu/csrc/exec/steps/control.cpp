// Loops and branches. The host waits for the predicate or index on the device, except for loops whose trip
// count the compiler knows.
#include <algorithm>
#include <cstring>
#include <memory>

#include "exec/steps.h"
#include "xpu/copy.h"
#include "xpu/error.h"
#include "xpu/host_memory.h"

namespace xla_xpu {
namespace {

// Reads a scalar on the device. Blocks until all pending work of the stream has completed.
std::int32_t read_scalar(const Frame& frame, const Operand& operand) {
  struct Release {
    void operator()(void* memory) const { xpu::host_memory::deallocate(memory); }
  };
  auto bytes = xpu::size_of(operand.view.dtype);
  std::unique_ptr<void, Release> memory(xpu::host_memory::allocate(bytes));
  xpu::copy(frame.stream, memory.get(), frame.at(operand).data, bytes);
  frame.stream.synchronize();
  std::int32_t value = 0;
  std::memcpy(&value, memory.get(), bytes);
  return value;
}

// Reads a scalar that must be equal on all devices.
std::int32_t read_equal_scalar(std::span<Frame> frames, const Operand& operand) {
  auto value = read_scalar(frames.front(), operand);
  for (auto& frame : frames.subspan(1))
    xpu::expect<xpu::UsageError>(
        read_scalar(frame, operand) == value,
        "jax: devices compute different conditions for a loop or branch that contains collectives");
  return value;
}

class LoopStep final : public Step {
 public:
  explicit LoopStep(const PlanFields& fields)
      : trips_(fields.get<std::int64_t>("trips", -1)), body_(make_steps(fields.list("body"))) {
    if (trips_ >= 0) return;
    condition_ = make_steps(fields.list("condition"));
    predicate_ = fields.operand("predicate");
  }
  void run(Frame& frame) const override {
    for (std::int64_t trip = 0; trip != trips_; ++trip) {
      if (trips_ < 0) {
        run_all(condition_, frame);
        if (!read_scalar(frame, predicate_)) return;
      }
      run_all(body_, frame);
    }
  }
  void run_collective(std::span<Frame> frames) const override {
    if (!collective()) return Step::run_collective(frames);
    for (std::int64_t trip = 0; trip != trips_; ++trip) {
      if (trips_ < 0) {
        run_all(condition_, frames);
        if (!read_equal_scalar(frames, predicate_)) return;
      }
      run_all(body_, frames);
    }
  }
  bool collective() const override { return any_collective(condition_) || any_collective(body_); }
  void list_enqueue_only(std::vector<const Step*>& all) const override {
    xla_xpu::list_enqueue_only(condition_, all);
    xla_xpu::list_enqueue_only(body_, all);
  }

 private:
  std::int64_t trips_;
  Steps condition_, body_;
  Operand predicate_;
};

class BranchStep final : public Step {
 public:
  explicit BranchStep(const PlanFields& fields) : index_(fields.operand("index")) {
    xpu::expect<xpu::UsageError>(xpu::size_of(index_.view.dtype) <= 4, "plan: a branch's index is ",
                                 index_.view.describe());
    for (auto branch : fields.list("branches")) branches_.push_back(make_steps(py::cast<py::list>(branch)));
  }
  void run(Frame& frame) const override { run_all(branch(read_scalar(frame, index_)), frame); }
  void run_collective(std::span<Frame> frames) const override {
    if (!collective()) return Step::run_collective(frames);
    run_all(branch(read_equal_scalar(frames, index_)), frames);
  }
  bool collective() const override { return std::any_of(branches_.begin(), branches_.end(), any_collective); }
  void list_enqueue_only(std::vector<const Step*>& all) const override {
    for (auto& branch : branches_) xla_xpu::list_enqueue_only(branch, all);
  }

 private:
  const Steps& branch(std::int32_t index) const {
    auto last = static_cast<std::int32_t>(branches_.size()) - 1;
    return branches_[static_cast<std::size_t>(index < 0 || index > last ? last : index)];
  }

  Operand index_;
  std::vector<Steps> branches_;
};

}  // namespace

std::unique_ptr<Step> make_loop(const PlanFields& fields) {
  return std::make_unique<LoopStep>(fields);
}
std::unique_ptr<Step> make_branch(const PlanFields& fields) {
  return std::make_unique<BranchStep>(fields);
}

}  // namespace xla_xpu

#include "dnn/plan.h"

#include <array>
#include <iterator>

#include "dnn/packed_weights.h"
#include "xpu/error.h"
#include "xpu/memory.h"

namespace xpu::dnn {
// One run's operands and scratch.
class Plan::Run {
  // Freed in stream order: only work that is enqueued later on the stream may reuse the memory.
  struct Scratch {
    void* pointer;
    Scratch(std::size_t bytes, Stream stream) : pointer(memory::allocate(bytes, stream)) {}
    Scratch(const Scratch&) = delete;
    ~Scratch() { memory::deallocate(pointer); }
  };

 public:
  Run(const Plan& plan, Stream stream, const Problem& problem)
      : plan_(plan), self_(plan.shared_from_this()), stream_(stream), pointers_(problem.pointers()) {
    expect<InternalError>(plan.operands_ + plan.scratch_bytes_.size() <= max_operands,
                          "a dnn plan has too many scratch blocks");
  }

  void set_scratch(std::size_t i, void* pointer) { pointers_[plan_.operands_ + i] = pointer; }
  void allocate(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      set_scratch(i, owned_[i].emplace(plan_.scratch_bytes_[i], stream_).pointer);
  }
  void execute(const Steps& steps) {
    for (auto& step : steps) step->run(stream_, self_, pointers_.data());
  }

 private:
  const Plan& plan_;
  std::shared_ptr<const Plan> self_;
  Stream stream_;
  std::array<void*, max_operands> pointers_;
  std::array<std::optional<Scratch>, max_operands> owned_;
};

void Plan::add_packing(const dnnl::memory::desc& layout, const std::function<void()>& add_steps) {
  expect<InternalError>(!packing_, "a dnn plan packs its weights twice");
  auto first_step = static_cast<std::ptrdiff_t>(steps_.size());
  auto first_scratch = scratch_bytes_.size();
  add_steps();
  packing_.emplace(layout, first_scratch, scratch_bytes_.size(), Steps());
  auto begin = std::next(steps_.begin(), first_step);
  std::move(begin, steps_.end(), std::back_inserter(packing_->steps));
  steps_.erase(begin, steps_.end());
}

void Plan::run(Stream stream, const Problem& problem, PackedWeights* packed) const {
  if (scratch_bytes_.empty()) {
    auto self = shared_from_this();
    for (auto& step : steps_) step->run(stream, self, problem.pointers().data());
    return;
  }
  Run run(*this, stream, problem);
  if (!packing_) {
    run.allocate(0, scratch_bytes_.size());
    return run.execute(steps_);
  }
  auto& [layout, first, end, packing_steps] = *packing_;
  auto pack = [&, first = first, end = end, &steps = packing_steps](void* copy) {
    Run packing(*this, stream, problem);
    packing.set_scratch(first, copy);
    packing.allocate(first + 1, end);
    packing.execute(steps);
  };
  void* copy = packed ? packed->state().find_or_pack(stream, layout, pack) : nullptr;
  run.allocate(0, first);
  if (copy) {
    run.set_scratch(first, copy);
  } else {
    run.allocate(first, end);
    run.execute(packing_steps);
  }
  run.allocate(end, scratch_bytes_.size());
  run.execute(steps_);
}

}  // namespace xpu::dnn

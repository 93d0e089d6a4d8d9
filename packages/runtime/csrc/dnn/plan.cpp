#include "dnn/plan.h"

#include <optional>

#include "xpu/error.h"
#include "xpu/memory.h"

namespace xpu::dnn {
namespace {

// Freed in stream order: only work that is enqueued later on the stream may reuse the memory.
struct Scratch {
  void* pointer;
  Scratch(std::size_t bytes, Stream stream) : pointer(memory::allocate(bytes, stream)) {}
  Scratch(const Scratch&) = delete;
  ~Scratch() { memory::deallocate(pointer); }
};

}  // namespace

void Plan::run(Stream stream, const Problem& problem) const {
  auto self = shared_from_this();
  if (scratch_bytes_.empty()) {
    for (auto& step : steps_) step->run(stream, self, problem.pointers().data());
    return;
  }
  std::array<void*, max_operands> pointers = problem.pointers();
  expect<InternalError>(operands_ + scratch_bytes_.size() <= max_operands,
                        "a dnn plan has too many scratch blocks");
  std::array<std::optional<Scratch>, max_operands> owned;
  for (std::size_t i = 0; i < scratch_bytes_.size(); ++i)
    pointers[operands_ + i] = owned[i].emplace(scratch_bytes_[i], stream).pointer;
  for (auto& step : steps_) step->run(stream, self, pointers.data());
}

}  // namespace xpu::dnn

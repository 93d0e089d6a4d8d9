#include "dnn/plan.h"

#include <optional>

#include "xpu/error.h"
#include "xpu/memory.h"

namespace xpu::dnn {
namespace {

// Freed in stream order: the pool may hand the memory out again to work queued after this.
struct Temporary {
  void* pointer;
  Temporary(std::size_t bytes, Stream stream) : pointer(memory::allocate(bytes, stream)) {}
  Temporary(const Temporary&) = delete;
  ~Temporary() { memory::deallocate(pointer); }
};

}  // namespace

void Plan::run(Stream stream, const Problem& problem) const {
  auto self = shared_from_this();
  if (temporaries_.empty()) {
    for (auto& step : steps_) step->run(stream, self, problem.pointers().data());
    return;
  }
  std::array<void*, max_operands> pointers = problem.pointers();
  expect<InternalError>(operands_ + temporaries_.size() <= max_operands,
                        "a dnn plan has too many temporaries");
  std::array<std::optional<Temporary>, max_operands> owned;
  for (std::size_t i = 0; i < temporaries_.size(); ++i)
    pointers[operands_ + i] = owned[i].emplace(temporaries_[i], stream).pointer;
  for (auto& step : steps_) step->run(stream, self, pointers.data());
}

}  // namespace xpu::dnn

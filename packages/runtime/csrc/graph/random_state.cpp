#include "graph/random_state.h"

#include <algorithm>

#include "compile/source/embedded.h"
#include "kernels/kernel_table.h"
#include "process/immortal.h"
#include "xpu/error.h"
#include "xpu/graph.h"
#include "xpu/launch.h"
#include "xpu/memory.h"

namespace xpu {
namespace {

// Cached here because every replay needs it.
Kernel state_kernel(int device) {
  static auto& kernels = immortal<kernels::KernelTable>();
  return kernels.find_or_make({static_cast<std::uint64_t>(device)}, [&] {
    return build_shared_kernel(device, kernel_source("random_state.sycl"), "store_random_state");
  });
}

}  // namespace

GraphRandomState::~GraphRandomState() {
  if (states_) memory::deallocate(states_);
}

void GraphRandomState::reserve(Stream stream) {
  states_ = static_cast<std::uint64_t*>(memory::allocate(max_generators * 2 * sizeof(std::uint64_t), stream));
}

Philox GraphRandomState::take(const Generator& generator, std::uint64_t increment) {
  std::lock_guard lock(mutex_);
  auto same = [&](const Entry& entry) { return entry.generator == generator; };
  auto found = std::find_if(entries_.begin(), entries_.end(), same);
  if (found == entries_.end()) {
    expect<UsageError>(entries_.size() < max_generators, "a graph cannot draw from more than ",
                       max_generators, " generators");
    found = entries_.insert(found, {generator});
  }
  Philox taken{0, found->used, state_of(static_cast<std::size_t>(found - entries_.begin()))};
  found->used += (increment + 3) / 4 * 4;
  return taken;
}

void GraphRandomState::store(Stream stream) {
  if (entries_.empty()) return;
  expect<UsageError>(!is_capturing(stream),
                     "a graph that draws random numbers cannot be captured into another: each replay of the "
                     "other would draw the same");
  auto kernel = state_kernel(stream.device());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    auto now = entries_[i].generator.take(entries_[i].used);
    launch(stream, kernel, NdRange::linear(1, 1), args(state_of(i), now.seed, now.offset));
  }
}

}  // namespace xpu

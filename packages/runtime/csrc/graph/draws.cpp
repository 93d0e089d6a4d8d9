#include "graph/draws.h"

#include <algorithm>

#include "compile/embedded.h"
#include "kept.h"
#include "kernels/kernel_table.h"
#include "xpu/error.h"
#include "xpu/graph.h"
#include "xpu/memory.h"
#include "xpu/module.h"

namespace xpu {
namespace {

// Every replay asks for it.
Kernel state_kernel(int device) {
  static auto& kernels = kept<kernels::KernelTable>();
  return kernels.find_or_make({static_cast<std::uint64_t>(device)}, [&] {
    return build_shared_kernel(device, kernel_source("random_state.sycl"), "store_random_state");
  });
}

}  // namespace

Draws::~Draws() {
  if (states_) memory::deallocate(states_);
}

void Draws::reserve(Stream stream) {
  states_ = static_cast<std::uint64_t*>(memory::allocate(most * 2 * sizeof(std::uint64_t), stream));
}

Philox Draws::take(const Generator& generator, std::uint64_t increment) {
  std::lock_guard lock(mutex_);
  auto same = [&](const Entry& entry) { return entry.generator == generator; };
  auto found = std::find_if(entries_.begin(), entries_.end(), same);
  if (found == entries_.end()) {
    expect<UsageError>(entries_.size() < most, "a graph cannot draw from more than ", most, " generators");
    found = entries_.insert(found, {generator});
  }
  Philox taken{0, found->used, state_of(static_cast<std::size_t>(found - entries_.begin()))};
  found->used += (increment + 3) / 4 * 4;
  return taken;
}

void Draws::store(Stream stream) {
  if (entries_.empty()) return;
  expect<UsageError>(!is_capturing(stream),
                     "a graph that draws random numbers cannot be recorded into another: each replay of the "
                     "other would draw the same");
  auto kernel = state_kernel(stream.device());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    auto now = entries_[i].generator.take(entries_[i].used);
    launch(stream, kernel, NdRange::linear(1, 1), args(state_of(i), now.seed, now.offset));
  }
}

}  // namespace xpu

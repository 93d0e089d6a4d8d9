#include "dnn/packed_weights.h"

#include "xpu/graph.h"
#include "xpu/memory.h"

namespace xpu::dnn {

PackedWeights::PackedWeights() : state_(std::make_unique<State>()) {}
PackedWeights::~PackedWeights() = default;

std::size_t PackedWeights::count() const {
  std::lock_guard lock(state_->mutex);
  return state_->copies.size();
}

std::size_t PackedWeights::bytes() const {
  std::lock_guard lock(state_->mutex);
  std::size_t sum = 0;
  for (auto& copy : state_->copies) sum += copy.layout.get_size();
  return sum;
}

PackedWeights::State::~State() {
  for (auto& copy : copies) memory::deallocate(copy.pointer);
}

void* PackedWeights::State::find_or_pack(Stream stream, const dnnl::memory::desc& layout,
                                         const std::function<void(void* copy)>& pack) {
  std::lock_guard lock(mutex);
  bool captures = is_capturing(stream);
  for (auto& copy : copies) {
    if (copy.layout != layout) continue;
    if (copy.stream != stream && !captures) memory::record_stream(copy.pointer, stream);
    return copy.pointer;
  }
  if (captures) return nullptr;
  Copy copy{layout, memory::allocate(layout.get_size(), stream), stream};
  try {
    pack(copy.pointer);
    // Work of any stream may then read it without an event.
    stream.synchronize();
    copies.push_back(copy);
  } catch (...) {
    memory::deallocate(copy.pointer);
    throw;
  }
  return copy.pointer;
}

}  // namespace xpu::dnn

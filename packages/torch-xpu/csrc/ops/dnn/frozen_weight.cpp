#include "ops/dnn/frozen_weight.h"

#include <ATen/ops/any.h>
#include <ATen/ops/empty.h>

#include <atomic>
#include <memory>

#include "ops/tensor.h"
#include "xpu/graph.h"

namespace torch_xpu {
namespace {

// What the memory of a frozen weight belongs to.
struct FrozenMemory {
  explicit FrozenMemory(at::DataPtr memory) : memory(std::move(memory)) {}
  at::DataPtr memory;
  xpu::dnn::PackedWeights packed;
  std::atomic<bool> is_symmetric = false;
};

void free_frozen_memory(void* context) {
  delete static_cast<FrozenMemory*>(context);
}

FrozenMemory* frozen_memory(const at::Tensor& weight) {
  auto& memory = weight.storage().data_ptr();
  bool is_frozen = memory.get_deleter() == &free_frozen_memory && weight.storage_offset() == 0 &&
                   static_cast<std::size_t>(weight.numel()) * weight.itemsize() == weight.storage().nbytes();
  return is_frozen ? static_cast<FrozenMemory*>(memory.get_context()) : nullptr;
}

}  // namespace

at::Tensor freeze_weight(const at::Tensor& weight) {
  auto frozen = at::empty(weight.sizes(), weight.options(), at::MemoryFormat::Contiguous);
  frozen.copy_(weight);
  auto& memory = frozen.storage().unsafeGetStorageImpl()->mutable_data_ptr();
  void* data = memory.get();
  auto device = memory.device();
  auto owner = std::make_unique<FrozenMemory>(std::move(memory));
  memory = at::DataPtr(data, owner.get(), &free_frozen_memory, device);
  owner.release();
  return frozen;
}

xpu::dnn::PackedWeights* packed_weights(const at::Tensor& weight) {
  auto* memory = frozen_memory(weight);
  return memory ? &memory->packed : nullptr;
}

void check_symmetric(const at::Tensor& weight, const at::Tensor& zero_points) {
  auto* memory = frozen_memory(weight);
  if ((memory && memory->is_symmetric) || zero_points.numel() == 0 || xpu::is_capturing(stream_of(weight)))
    return;
  TORCH_CHECK_NOT_IMPLEMENTED(!zero_points.any().item<bool>(),
                              "weights with zero points other than 0: quantize them symmetrically");
  if (memory) memory->is_symmetric = true;
}

}  // namespace torch_xpu

#include "pjrt/buffer.h"

#include <array>
#include <utility>

#include "pjrt/element.h"
#include "pjrt/entry.h"
#include "pjrt/event.h"

using xla_xpu::Storage;

std::shared_ptr<Storage> PJRT_Buffer::storage() const {
  std::lock_guard lock(mutex_);
  if (!storage_)
    xla_xpu::fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "the buffer has been deleted or donated");
  return storage_;
}

bool PJRT_Buffer::deleted() const {
  std::lock_guard lock(mutex_);
  return !storage_;
}

std::shared_ptr<Storage> PJRT_Buffer::take() {
  std::lock_guard lock(mutex_);
  return std::exchange(storage_, nullptr);
}

void PJRT_Buffer::add_external_reference() {
  auto reference = storage();
  std::lock_guard lock(mutex_);
  external_references_.push_back(std::move(reference));
}

void PJRT_Buffer::drop_external_reference() {
  std::shared_ptr<Storage> last;
  std::lock_guard lock(mutex_);
  if (external_references_.empty())
    xla_xpu::fail_with_code(PJRT_Error_Code_FAILED_PRECONDITION,
                            "the buffer has no external reference to drop");
  last = std::move(external_references_.back());
  external_references_.pop_back();
}

namespace xla_xpu {
namespace {

void destroy(PJRT_Buffer_Destroy_Args& args) {
  delete args.buffer;
}

void element_type(PJRT_Buffer_ElementType_Args& args) {
  args.type = static_cast<std::uint32_t>(args.buffer->type);
}

void dimensions(PJRT_Buffer_Dimensions_Args& args) {
  args.dims = args.buffer->dims.data();
  args.num_dims = args.buffer->dims.size();
}

void unpadded_dimensions(PJRT_Buffer_UnpaddedDimensions_Args& args) {
  args.unpadded_dims = args.buffer->dims.data();
  args.num_dims = args.buffer->dims.size();
}

void dynamic_dimensions(PJRT_Buffer_DynamicDimensionIndices_Args& args) {
  args.dynamic_dim_indices = nullptr;
  args.num_dynamic_dims = 0;
}

// Always contiguous in its own order.
void memory_layout(PJRT_Buffer_GetMemoryLayout_Args& args) {
  static constexpr auto descending = [] {
    std::array<std::int64_t, 64> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(63 - i);
    return numbers;
  }();
  std::size_t rank = args.buffer->dims.size();
  if (rank > descending.size())
    fail_with_code(PJRT_Error_Code_UNIMPLEMENTED, "an array of ", rank, " dimensions");
  args.layout = {};
  args.layout.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE;
  args.layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  args.layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  const auto& order = args.buffer->order;
  args.layout.tiled.minor_to_major =
      order.empty() ? descending.data() + descending.size() - rank : order.data();
  args.layout.tiled.minor_to_major_size = rank;
}

void device_bytes(PJRT_Buffer_OnDeviceSizeInBytes_Args& args) {
  args.on_device_size_in_bytes = array_bytes(args.buffer->type, args.buffer->dims);
}

void device(PJRT_Buffer_Device_Args& args) {
  args.device = args.buffer->memory.device;
}

void memory(PJRT_Buffer_Memory_Args& args) {
  args.memory = &args.buffer->memory;
}

void erase(PJRT_Buffer_Delete_Args& args) {
  args.buffer->take();
}

void is_deleted(PJRT_Buffer_IsDeleted_Args& args) {
  args.is_deleted = args.buffer->deleted();
}

void is_on_cpu(PJRT_Buffer_IsOnCpu_Args& args) {
  args.is_on_cpu = args.buffer->memory.on_host();
}

void ready_event(PJRT_Buffer_ReadyEvent_Args& args) {
  args.event = new PJRT_Event{args.buffer->ready};
}

void* registered_address(PJRT_Buffer& buffer) {
  auto storage = buffer.storage();
  storage->register_address(storage, buffer.order);
  return storage->data();
}

void unsafe_pointer(PJRT_Buffer_UnsafePointer_Args& args) {
  args.buffer_pointer = reinterpret_cast<std::uintptr_t>(registered_address(*args.buffer));
}

void device_pointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args& args) {
  args.device_memory_ptr = registered_address(*args.buffer);
}

void increase(PJRT_Buffer_IncreaseExternalReferenceCount_Args& args) {
  args.buffer->add_external_reference();
}

void decrease(PJRT_Buffer_DecreaseExternalReferenceCount_Args& args) {
  args.buffer->drop_external_reference();
}

void uninitialized(PJRT_Client_CreateUninitializedBuffer_Args& args) {
  auto& memory = memory_of(args.memory, args.device, *args.client);
  std::vector<std::int64_t> dims(args.shape_dims, args.shape_dims + args.shape_num_dims);
  int type = static_cast<int>(args.shape_element_type);
  auto storage = Storage::make(memory, array_bytes(type, dims));
  auto order = order_of(args.shape_layout, element_bytes(type), dims);
  args.buffer = new PJRT_Buffer(memory, type, std::move(dims), std::move(storage),
                                CompletionEvent::completed(), std::move(order));
}

}  // namespace

void install_buffers(PJRT_Api& api) {
  api.PJRT_Buffer_Destroy = entry<destroy>;
  api.PJRT_Buffer_ElementType = entry<element_type>;
  api.PJRT_Buffer_Dimensions = entry<dimensions>;
  api.PJRT_Buffer_UnpaddedDimensions = entry<unpadded_dimensions>;
  api.PJRT_Buffer_DynamicDimensionIndices = entry<dynamic_dimensions>;
  api.PJRT_Buffer_GetMemoryLayout = entry<memory_layout>;
  api.PJRT_Buffer_OnDeviceSizeInBytes = entry<device_bytes>;
  api.PJRT_Buffer_Device = entry<device>;
  api.PJRT_Buffer_Memory = entry<memory>;
  api.PJRT_Buffer_Delete = entry<erase>;
  api.PJRT_Buffer_IsDeleted = entry<is_deleted>;
  api.PJRT_Buffer_IsOnCpu = entry<is_on_cpu>;
  api.PJRT_Buffer_ReadyEvent = entry<ready_event>;
  api.PJRT_Buffer_UnsafePointer = entry<unsafe_pointer>;
  api.PJRT_Buffer_OpaqueDeviceMemoryDataPointer = entry<device_pointer>;
  api.PJRT_Buffer_IncreaseExternalReferenceCount = entry<increase>;
  api.PJRT_Buffer_DecreaseExternalReferenceCount = entry<decrease>;
  api.PJRT_Client_CreateUninitializedBuffer = entry<uninitialized>;
}

}  // namespace xla_xpu

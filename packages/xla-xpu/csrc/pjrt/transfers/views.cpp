// Buffers over memory of other libraries, as DLPack imports create them.
#include "pjrt/buffer.h"
#include "pjrt/element.h"
#include "pjrt/entry.h"
#include "pjrt/layout.h"
#include "pjrt/transfers/gather.h"
#include "xpu/kernels/copy.h"

namespace xla_xpu {
namespace {

// Orders the device's stream after the owner's work, which is on the thread's current stream.
void wait_for_owner(const PJRT_Device& device) {
  auto current = xpu::current_stream(device.id);
  if (current != device.stream) device.stream.wait(current);
}

xpu::Tensor strided(void* data, std::size_t item, const std::vector<std::int64_t>& dims,
                    std::vector<std::int64_t> strides) {
  for (auto& stride : strides) stride /= static_cast<std::int64_t>(item);
  return {data, xpu::dtype_of_width(item), static_cast<int>(dims.size()), dims.data(), strides.data()};
}

void view(PJRT_Client_CreateViewOfDeviceBuffer_Args& args) {
  auto& memory = memory_of(args.memory, args.device, *args.client);
  int type = static_cast<int>(args.element_type);
  std::vector<std::int64_t> dims(args.dims, args.dims + args.num_dims);
  std::size_t item = element_bytes(type), bytes = array_bytes(type, dims);
  auto strides = strides_of(args.layout, item, dims);
  std::function<void()> release;
  if (args.on_delete_callback)
    release = [callback = args.on_delete_callback, data = args.device_buffer_ptr,
               user = args.on_delete_callback_arg] { callback(data, user); };
  const auto& device = *memory.device;
  wait_for_owner(device);
  auto storage = Storage::view(memory, args.device_buffer_ptr, bytes);
  auto ready = CompletionEvent::completed();
  if (bytes && !is_contiguous(item, dims, strides)) {
    auto copy = Storage::make(memory, bytes);
    xpu::kernels::copy(device.stream, strided(copy->data(), item, dims, row_major_strides(item, dims)),
                       strided(args.device_buffer_ptr, item, dims, std::move(strides)));
    storage->record_stream(device.stream);
    storage->on_release(std::move(release));
    storage = std::move(copy);
    ready = CompletionEvent::record(device.stream);
  } else {
    if (bytes) ready = CompletionEvent::record(device.stream);
    storage->on_release(std::move(release));
  }
  args.buffer = new PJRT_Buffer(memory, type, std::move(dims), std::move(storage), std::move(ready));
}

}  // namespace

void install_views(PJRT_Api& api) {
  api.PJRT_Client_CreateViewOfDeviceBuffer = entry<view>;
}

}  // namespace xla_xpu

// Copies of buffers to another device or another kind of memory.
#include "pjrt/buffer.h"
#include "pjrt/element.h"
#include "pjrt/entry.h"
#include "xpu/copy.h"

namespace xla_xpu {
namespace {

PJRT_Buffer* copy_to(const PJRT_Buffer& from, Memory& memory) {
  auto source = from.storage();
  std::size_t bytes = array_bytes(from.type, from.dims);
  auto storage = Storage::make(memory, bytes);
  auto ready = CompletionEvent::completed();
  if (bytes) {
    // The device that has the values copies them to host memory.
    auto stream = (memory.on_host() ? from.memory : memory).device->stream;
    from.ready->order_before(stream);
    xpu::copy(stream, storage->data(), source->data(), bytes);
    ready = CompletionEvent::record(stream);
    source->record_stream(stream);
    storage->record_stream(stream);
  }
  return new PJRT_Buffer(memory, from.type, from.dims, std::move(storage), std::move(ready), from.order);
}

void to_device(PJRT_Buffer_CopyToDevice_Args& args) {
  args.dst_buffer = copy_to(*args.buffer, memory_of(args.dst_device->memories.front()));
}

void to_memory(PJRT_Buffer_CopyToMemory_Args& args) {
  args.dst_buffer = copy_to(*args.buffer, memory_of(args.dst_memory));
}

}  // namespace

void install_copies(PJRT_Api& api) {
  api.PJRT_Buffer_CopyToDevice = entry<to_device>;
  api.PJRT_Buffer_CopyToMemory = entry<to_memory>;
}

}  // namespace xla_xpu

// Uploads: host arrays to buffers.
#include <cstring>

#include "pjrt/buffer.h"
#include "pjrt/element.h"
#include "pjrt/entry.h"
#include "pjrt/event.h"
#include "pjrt/layout.h"
#include "pjrt/transfers/gather.h"
#include "xpu/copy.h"

namespace xla_xpu {
namespace {

// For at most this many bytes an extra copy costs less than a wait for the stream.
constexpr std::size_t staged_bytes = 64 << 10;

struct Source {
  const void* data;
  std::size_t item, bytes;
  std::span<const std::int64_t> dims, strides;  // strides in bytes
  int sub_byte_bits;                            // as sub_byte_bits() returns

  bool is_copyable() const { return !sub_byte_bits && is_contiguous(item, dims, strides); }
  void write(void* dst) const {
    gather(dst, data, item, dims, strides);
    if (sub_byte_bits) fill_bytes(dst, bytes, sub_byte_bits);
  }
};

struct Upload {
  std::shared_ptr<CompletionEvent> ready;     // the buffer has the values
  std::shared_ptr<CompletionEvent> released;  // the source may be reused
};

// Copies the values to pinned memory before it returns; the device copies them from there in stream order.
Upload stage(Storage& to, Memory& memory, const Source& source) {
  auto stream = memory.device->stream;
  auto pinned = Storage::make(memory_of(*memory.device, name_of(MemoryKind::pinned_host)), source.bytes);
  source.write(pinned->data());
  xpu::copy(stream, to.data(), pinned->data(), source.bytes);
  pinned->record_stream(stream);
  return {CompletionEvent::record(stream), CompletionEvent::completed()};
}

Upload upload(Storage& to, Memory& memory, const Source& source, int semantics) {
  if (!source.bytes) return {CompletionEvent::completed(), CompletionEvent::completed()};
  if (memory.on_host()) {
    source.write(to.data());
    return {CompletionEvent::completed(), CompletionEvent::completed()};
  }
  if (source.bytes <= staged_bytes || !source.is_copyable()) return stage(to, memory, source);
  auto stream = memory.device->stream;
  xpu::copy(stream, to.data(), source.data, source.bytes);
  auto copied = CompletionEvent::record(stream);
  if (semantics == PJRT_HostBufferSemantics_kImmutableOnlyDuringCall) copied->wait();
  return {copied, copied};
}

void buffer_from_host(PJRT_Client_BufferFromHostBuffer_Args& args) {
  auto& memory = memory_of(args.memory, args.device, *args.client);
  int type = static_cast<int>(args.type);
  std::vector<std::int64_t> dims(args.dims, args.dims + args.num_dims);
  std::size_t item = element_bytes(type), bytes = array_bytes(type, dims);
  auto order = order_of(args.device_layout, item, dims);
  auto strides = args.num_byte_strides
                     ? std::vector(args.byte_strides, args.byte_strides + args.num_byte_strides)
                     : row_major_strides(item, dims);
  if (strides.size() != dims.size())
    fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "a host array of ", dims.size(),
                   " dimensions comes with ", strides.size(), " strides");
  auto storage = Storage::make(memory, bytes);
  auto sizes = slowest_first(order, dims), steps = slowest_first(order, strides);
  Source source{args.data, item, bytes, sizes, steps, sub_byte_bits(type)};
  auto done = upload(*storage, memory, source, static_cast<int>(args.host_buffer_semantics));
  auto event = std::make_unique<PJRT_Event>(done.released);
  args.buffer = new PJRT_Buffer(memory, type, std::move(dims), std::move(storage), std::move(done.ready),
                                std::move(order));
  args.done_with_host_buffer = event.release();
}

}  // namespace

void install_uploads(PJRT_Api& api) {
  api.PJRT_Client_BufferFromHostBuffer = entry<buffer_from_host>;
}

}  // namespace xla_xpu

// Arrays of the host become buffers.
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

// Up to here an extra copy costs less than making the caller wait for the stream.
constexpr std::size_t staged_bytes = 64 << 10;

struct Source {
  const void* data;
  std::size_t item, bytes;
  std::span<const std::int64_t> dims, strides;  // strides in bytes
  int part;                                     // of a byte that an element takes

  bool as_wanted() const { return !part && is_dense(item, dims, strides); }
  void write(void* dst) const {
    gather(dst, data, item, dims, strides);
    if (part) fill_bytes(dst, bytes, part);
  }
};

struct Uploaded {
  std::shared_ptr<Moment> ready;     // the buffer has the values
  std::shared_ptr<Moment> released;  // the source is not needed any more
};

// The values are in pinned memory when this returns; the device fetches them in its turn.
Uploaded stage(Storage& to, Memory& memory, const Source& source) {
  auto stream = memory.device->stream;
  auto pinned = Storage::make(memory_of(*memory.device, name_of(MemoryKind::pinned_host)), source.bytes);
  source.write(pinned->data());
  xpu::copy(stream, to.data(), pinned->data(), source.bytes);
  pinned->used_on(stream);
  return {Moment::on(stream), Moment::past()};
}

Uploaded upload(Storage& to, Memory& memory, const Source& source, int semantics) {
  if (!source.bytes) return {Moment::past(), Moment::past()};
  if (memory.on_host()) {
    source.write(to.data());
    return {Moment::past(), Moment::past()};
  }
  if (source.bytes <= staged_bytes || !source.as_wanted()) return stage(to, memory, source);
  auto stream = memory.device->stream;
  xpu::copy(stream, to.data(), source.data, source.bytes);
  auto copied = Moment::on(stream);
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
    refuse(PJRT_Error_Code_INVALID_ARGUMENT, "a host array of ", dims.size(), " dimensions comes with ",
           strides.size(), " strides");
  auto storage = Storage::make(memory, bytes);
  auto sizes = in_order(order, dims), steps = in_order(order, strides);
  Source source{args.data, item, bytes, sizes, steps, part_of_byte(type)};
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

// Downloads: buffers to host memory.
#include <algorithm>

#include "pjrt/buffer.h"
#include "pjrt/element.h"
#include "pjrt/entry.h"
#include "pjrt/event.h"
#include "pjrt/layout.h"
#include "pjrt/transfers/gather.h"
#include "xpu/copy.h"

namespace xla_xpu {
namespace {

// Returns host memory that holds the values, in the order of the buffer, once work pending on the stream has
// completed.
std::shared_ptr<Storage> on_host(PJRT_Buffer& buffer, const std::shared_ptr<Storage>& storage,
                                 std::size_t bytes) {
  if (buffer.memory.on_host()) return storage;
  auto stream = buffer.memory.device->stream;
  auto pinned = Storage::make(memory_of(*buffer.memory.device, name_of(MemoryKind::pinned_host)), bytes);
  xpu::copy(stream, pinned->data(), storage->data(), bytes);
  pinned->record_stream(stream);
  return pinned;
}

// Copies in the order of the destination, its slowest dimension first.
void reorder(void* dst, const void* src, std::size_t item, const std::vector<std::int64_t>& dims,
             const std::vector<std::int64_t>& strides, const std::vector<std::int64_t>& from) {
  std::vector<std::size_t> order(dims.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return strides[a] > strides[b]; });
  std::vector<std::int64_t> sizes, steps;
  for (auto axis : order) {
    sizes.push_back(dims[axis]);
    steps.push_back(from[axis]);
  }
  gather(dst, src, item, sizes, steps);
}

std::shared_ptr<CompletionEvent> download_reordered(PJRT_Buffer& buffer,
                                                    const std::shared_ptr<Storage>& storage, void* dst,
                                                    std::size_t bytes, std::vector<std::int64_t> strides) {
  auto host = on_host(buffer, storage, bytes);
  auto copied =
      buffer.memory.on_host() ? buffer.ready : CompletionEvent::record(buffer.memory.device->stream);
  auto done = CompletionEvent::pending();
  std::size_t item = element_bytes(buffer.type);
  auto from = strides_of(buffer.order, item, buffer.dims);
  copied->then([=, dims = buffer.dims, strides = std::move(strides),
                from = std::move(from)](const std::exception_ptr& failure) {
    if (!failure) reorder(dst, host->data(), item, dims, strides, from);
    done->complete(failure);
  });
  return done;
}

std::shared_ptr<CompletionEvent> download(PJRT_Buffer& buffer, const std::shared_ptr<Storage>& storage,
                                          void* dst, std::size_t bytes) {
  auto stream = buffer.memory.device->stream;
  buffer.ready->order_before(stream);
  xpu::copy(stream, dst, storage->data(), bytes);
  storage->record_stream(stream);
  return CompletionEvent::record(stream);
}

void to_host(PJRT_Buffer_ToHostBuffer_Args& args) {
  auto& buffer = *args.src;
  auto storage = buffer.storage();
  std::size_t item = element_bytes(buffer.type), bytes = array_bytes(buffer.type, buffer.dims);
  if (!args.dst) {
    args.dst_size = bytes;
    return;
  }
  if (args.dst_size < bytes)
    fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "the array has ", bytes, " bytes, the destination ",
                   args.dst_size);
  // Without a host layout the destination has the layout of the buffer.
  auto strides = args.host_layout ? strides_of(args.host_layout, item, buffer.dims)
                                  : strides_of(buffer.order, item, buffer.dims);
  std::shared_ptr<CompletionEvent> done;
  if (!bytes)
    done = CompletionEvent::completed();
  else if (is_contiguous(item, slowest_first(buffer.order, buffer.dims),
                         slowest_first(buffer.order, strides)))
    done = download(buffer, storage, args.dst, bytes);
  else
    done = download_reordered(buffer, storage, args.dst, bytes, std::move(strides));
  args.event = new PJRT_Event{std::move(done)};
}

}  // namespace

void install_downloads(PJRT_Api& api) {
  api.PJRT_Buffer_ToHostBuffer = entry<to_host>;
}

}  // namespace xla_xpu

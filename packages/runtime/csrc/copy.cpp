#include "xpu/copy.h"

#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>
#include <sycl/sycl.hpp>

#include "devices/peer_copy.h"
#include "xpu/enqueue.h"
#include "xpu/error.h"

namespace xpu {
namespace {

namespace ext = sycl::ext::oneapi::experimental;

struct Copy {
  void* dst;
  const void* src;
  std::size_t bytes;
  void operator()(sycl::queue& queue, sycl::event* event) const {
    if (event)
      *event = queue.memcpy(dst, src, bytes);
    else
      ext::memcpy(queue, dst, src, bytes);
  }
};

struct FillBytes {
  void* dst;
  int value;
  std::size_t bytes;
  void operator()(sycl::queue& queue, sycl::event* event) const {
    if (event)
      *event = queue.memset(dst, value, bytes);
    else
      ext::memset(queue, dst, value, bytes);
  }
};

template <class T>
struct FillPattern {
  T* dst;
  T value;
  std::size_t count;
  void operator()(sycl::queue& queue, sycl::event* event) const {
    auto done = queue.fill(dst, value, count);
    if (event) *event = done;
  }
};

template <class T>
void fill_with(Stream stream, void* dst, const void* pattern, std::size_t count) {
  FillPattern<T> work{static_cast<T*>(dst), *static_cast<const T*>(pattern), count};
  enqueue(stream, {WorkKind::fill, "fill", count * sizeof(T)}, work);
}

struct Sixteen {
  std::uint64_t low, high;
};

}  // namespace

void copy(Stream stream, void* dst, const void* src, std::size_t bytes) {
  // A copy onto itself is an error of OpenCL's.
  if (bytes == 0 || dst == src) return;
  expect<UsageError>(dst && src, "copy of ", bytes, " bytes: the ", dst ? "source" : "destination",
                     " is null");
  if (copy_between_devices(stream, dst, src, bytes)) return;
  enqueue(stream, {WorkKind::copy, "copy", bytes}, Copy{dst, src, bytes});
}

void fill_bytes(Stream stream, void* dst, int value, std::size_t bytes) {
  if (bytes == 0) return;
  expect<UsageError>(dst, "fill of ", bytes, " bytes: the destination is null");
  enqueue(stream, {WorkKind::fill, "fill", bytes}, FillBytes{dst, value, bytes});
}

void fill_pattern(Stream stream, void* dst, const void* pattern, std::size_t pattern_bytes,
                  std::size_t count) {
  if (count == 0) return;
  expect<UsageError>(dst && pattern, "fill: the ", dst ? "pattern" : "destination", " is null");
  switch (pattern_bytes) {
    case 1:
      return fill_with<std::uint8_t>(stream, dst, pattern, count);
    case 2:
      return fill_with<std::uint16_t>(stream, dst, pattern, count);
    case 4:
      return fill_with<std::uint32_t>(stream, dst, pattern, count);
    case 8:
      return fill_with<std::uint64_t>(stream, dst, pattern, count);
    case 16:
      return fill_with<Sixteen>(stream, dst, pattern, count);
    default:
      fail<UsageError>("fill: got a pattern of ", pattern_bytes, " bytes, expected 1, 2, 4, 8 or 16");
  }
}

}  // namespace xpu

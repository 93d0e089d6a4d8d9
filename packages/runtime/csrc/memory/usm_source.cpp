#include "memory/usm_source.h"

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <sycl/sycl.hpp>

#include "devices/sycl_error.h"
#include "memory/noexcept_wait.h"
#include "memory/units.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu::memory {
namespace {

void free_usm(void* ptr, int device, Stream stream) noexcept {
  if (stream) wait_noexcept(stream);
  try {
    sycl::free(ptr, sycl_context(device));
  } catch (const std::exception& e) {
    log(LogLevel::error,
        join("the driver could not free memory at ", ptr, " of device ", device, ": ", e.what()));
  }
}

// Added in Linux 5.14; older headers do not define MADV_POPULATE_WRITE.
constexpr int madv_populate_write = 23;

// Kernels of the CPU device read memory in large pages in up to a third less time. But on a virtual machine
// that returns free memory to its host, the first touch of a large page can take milliseconds, far longer
// than that of small pages. So one page of each piece is touched here; if that is slow, the rest of the piece
// and the next pieces get small pages. A system without these flags ignores them.
void advise_large_pages(void* ptr, std::size_t bytes) {
  using Clock = std::chrono::steady_clock;
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  constexpr auto slow_touch = std::chrono::milliseconds(1);
  constexpr int pieces_after_slow = 32;
  static std::atomic<int> small_pieces{0};
  auto begin = reinterpret_cast<std::uintptr_t>(ptr), end = (begin + bytes) & ~(page - 1);
  begin = (begin + page - 1) & ~(page - 1);
  if (begin >= end || small_pieces.fetch_sub(1) > 0) return;
  auto advise = [&](std::uintptr_t from, std::uintptr_t to, int advice) {
    if (from < to) madvise(reinterpret_cast<void*>(from), to - from, advice);
  };
  advise(begin, end, MADV_HUGEPAGE);
  auto start = Clock::now();
  advise(begin, begin + page, madv_populate_write);
  if (Clock::now() - start < slow_touch) return;
  advise(begin + page, end, MADV_NOHUGEPAGE);
  small_pieces = pieces_after_slow;
}

}  // namespace

DeviceSource::DeviceSource(int device) : device_(device) {}

void* DeviceSource::allocate(std::size_t bytes, Stream, Owner) {
  std::size_t limit = device_info(device_).max_allocation;
  expect<OutOfMemory>(!limit || bytes <= limit, "an allocation of ", format_bytes(bytes),
                      " is larger than the maximum of device ", device_, ", ", format_bytes(limit));
  void* ptr = translate_sycl_errors("allocating device memory", [&] {
    return sycl::malloc_device(bytes, sycl_device(device_), sycl_context(device_));
  });
  expect<OutOfMemory>(ptr, "the driver has no ", format_bytes(bytes), " left on device ", device_);
  if (sycl_device(device_).is_cpu()) advise_large_pages(ptr, bytes);
  return ptr;
}

void DeviceSource::deallocate(void* ptr, std::size_t, Stream stream) noexcept {
  free_usm(ptr, device_, stream);
}

void* HostSource::allocate(std::size_t bytes, Stream, Owner) {
  void* ptr = translate_sycl_errors("allocating pinned host memory",
                                    [&] { return sycl::malloc_host(bytes, sycl_context(0)); });
  expect<OutOfMemory>(ptr, "the driver could not pin ", format_bytes(bytes), " of host memory");
  return ptr;
}

void HostSource::deallocate(void* ptr, std::size_t, Stream stream) noexcept {
  free_usm(ptr, 0, stream);
}

}  // namespace xpu::memory

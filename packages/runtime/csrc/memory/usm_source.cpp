#include "memory/usm_source.h"

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <sycl/sycl.hpp>

#include "memory/units.h"
#include "memory/waiting.h"
#include "sycl_error.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu::memory {
namespace {

void give_back(void* ptr, int device, Stream stream) noexcept {
  if (stream) wait_for_end(stream);
  try {
    sycl::free(ptr, sycl_context(device));
  } catch (const std::exception& e) {
    log(LogLevel::error,
        join("the driver did not take back memory at ", ptr, " of device ", device, ": ", e.what()));
  }
}

// MADV_POPULATE_WRITE, of Linux 5.14, which older headers do not name.
constexpr int populate = 23;

// Walking memory of the CPU device in large pages takes up to a third less time, where they come quickly. On
// a virtual machine that gives free memory back to its host the first touch of one can take milliseconds,
// much longer than that of small pages, which were in use a moment before. So one page of each piece is asked
// for beforehand, and when it was slow the rest of it, and some pieces that follow, have small ones. All of
// it is advice: a system that knows none of it leaves things as they are.
void advise_large_pages(void* ptr, std::size_t bytes) {
  using Clock = std::chrono::steady_clock;
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  constexpr auto slow = std::chrono::milliseconds(1);
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
  advise(begin, begin + page, populate);
  if (Clock::now() - start < slow) return;
  advise(begin + page, end, MADV_NOHUGEPAGE);
  small_pieces = pieces_after_slow;
}

}  // namespace

DeviceSource::DeviceSource(int device) : device_(device) {}

void* DeviceSource::allocate(std::size_t bytes, Stream, Owner) {
  std::size_t most = device_info(device_).max_allocation;
  expect<OutOfMemory>(!most || bytes <= most, "one allocation of device ", device_, " may have at most ",
                      human(most), ", asked ", human(bytes));
  void* ptr = translate_sycl_errors("allocating device memory", [&] {
    return sycl::malloc_device(bytes, sycl_device(device_), sycl_context(device_));
  });
  expect<OutOfMemory>(ptr, "the driver has no ", human(bytes), " left on device ", device_);
  if (sycl_device(device_).is_cpu()) advise_large_pages(ptr, bytes);
  return ptr;
}

void DeviceSource::deallocate(void* ptr, std::size_t, Stream stream) noexcept {
  give_back(ptr, device_, stream);
}

void* HostSource::allocate(std::size_t bytes, Stream, Owner) {
  void* ptr = translate_sycl_errors("allocating pinned host memory",
                                    [&] { return sycl::malloc_host(bytes, sycl_context(0)); });
  expect<OutOfMemory>(ptr, "the driver could not pin ", human(bytes), " of host memory");
  return ptr;
}

void HostSource::deallocate(void* ptr, std::size_t, Stream stream) noexcept {
  give_back(ptr, 0, stream);
}

}  // namespace xpu::memory

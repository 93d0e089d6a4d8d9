// Time of the pool: one thread on cached blocks, and eight threads at random.
#include <algorithm>
#include <chrono>
#include <limits>
#include <random>
#include <sycl/sycl.hpp>
#include <thread>
#include <vector>

#include "xpu/device.h"
#include "xpu/memory.h"
#include "xpu/stream.h"

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr std::size_t block = 100000;

void at_random(unsigned seed, long operations, const std::vector<xpu::Stream>& streams) {
  std::minstd_rand random(seed);
  std::vector<void*> held;
  for (long i = 0; i < operations; ++i) {
    if (held.size() > 30 || (!held.empty() && random() % 2)) {
      std::size_t at = random() % held.size();
      xpu::memory::deallocate(held[at]);
      held[at] = held.back();
      held.pop_back();
    } else {
      std::size_t bytes = 1 + random() % (std::size_t{1} << (4 + random() % 18));
      held.push_back(xpu::memory::allocate(bytes, streams[random() % streams.size()]));
    }
  }
  for (void* ptr : held) xpu::memory::deallocate(ptr);
}

bool exact(const xpu::memory::Stat& stat, const xpu::memory::Stat& before) {
  return stat.allocated - stat.freed == stat.current && stat.current == before.current;
}

}  // namespace

/// Seconds of one allocation and its free.
extern "C" double cached() {
  constexpr int turns = 10000;
  auto stream = xpu::default_stream(0);
  double begin = seconds();
  for (int i = 0; i < turns; ++i) xpu::memory::deallocate(xpu::memory::allocate(block, stream));
  return (seconds() - begin) / turns;
}

/// The same straight from the driver.
extern "C" double driver() {
  constexpr int turns = 20;
  double begin = seconds();
  for (int i = 0; i < turns; ++i)
    sycl::free(sycl::malloc_device(block, xpu::sycl_device(0), xpu::sycl_context(0)), xpu::sycl_context(0));
  return (seconds() - begin) / turns;
}

/// Seconds of one of 10 M operations on 8 threads over 4 streams; not a number when a counter is wrong
/// afterwards.
extern "C" double threads() {
  constexpr int count = 8;
  constexpr long operations = 10'000'000;
  std::vector<xpu::Stream> streams{xpu::default_stream(0), xpu::stream_from_pool(0), xpu::stream_from_pool(0),
                                   xpu::stream_from_pool(0)};
  auto before = xpu::memory::stats(0);
  double begin = seconds();
  std::vector<std::thread> all;
  for (unsigned i = 0; i < count; ++i)
    all.emplace_back([&, i] { at_random(i + 1, operations / count, streams); });
  for (auto& thread : all) thread.join();
  double taken = seconds() - begin;
  auto after = xpu::memory::stats(0);
  bool right = exact(after.allocation[0], before.allocation[0]) &&
               exact(after.allocated_bytes[0], before.allocated_bytes[0]) &&
               exact(after.active_bytes[0], before.active_bytes[0]) &&
               exact(after.requested_bytes[0], before.requested_bytes[0]);
  return right ? taken / operations : std::numeric_limits<double>::quiet_NaN();
}

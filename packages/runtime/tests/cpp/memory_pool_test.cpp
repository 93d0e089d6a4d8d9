// The pool as users see it: stream order, private pools, statistics, invalid frees, pinned host memory.
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "harness.h"
#include "slow_kernel.h"
#include "xpu/copy.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/host_memory.h"
#include "xpu/log.h"
#include "xpu/memory.h"
#include "xpu/strict.h"

using namespace xpu;

namespace {

// The statistics must agree with each other.
void check_consistent(const memory::Stats& stats) {
  auto check = [](const memory::Stat& stat) {
    CHECK_EQUAL(stat.allocated - stat.freed, stat.current);
    CHECK(stat.current >= 0);
    CHECK(stat.peak >= stat.current);
  };
  for (auto* group :
       {&stats.allocation, &stats.segment, &stats.active, &stats.inactive_split, &stats.allocated_bytes,
        &stats.reserved_bytes, &stats.active_bytes, &stats.inactive_split_bytes, &stats.requested_bytes}) {
    for (auto& stat : *group) check(stat);
    CHECK_EQUAL((*group)[0].current, (*group)[1].current + (*group)[2].current);
  }
  std::int64_t owned = 0;
  for (auto& owner : stats.owners) {
    check(owner.allocated_bytes);
    owned += owner.allocated_bytes.current;
  }
  CHECK_EQUAL(owned, stats.allocated_bytes[0].current);
  CHECK_EQUAL(stats.num_device_alloc - stats.num_device_free, stats.segment[0].current);
}

// Blocks must fill their segment without gaps, and the sums of all segments must match the statistics.
void check_snapshot() {
  std::int64_t allocated = 0, active = 0, reserved = 0;
  for (auto& segment : memory::snapshot()) {
    std::uintptr_t at = segment.address;
    for (auto& block : segment.blocks) {
      CHECK_EQUAL(block.address, at);
      at += block.size;
    }
    CHECK_EQUAL(at, segment.address + segment.total_size);
    reserved += static_cast<std::int64_t>(segment.total_size);
    allocated += static_cast<std::int64_t>(segment.allocated_size);
    active += static_cast<std::int64_t>(segment.active_size);
  }
  auto stats = memory::stats(0);
  CHECK_EQUAL(allocated, stats.allocated_bytes[0].current);
  CHECK_EQUAL(active, stats.active_bytes[0].current);
  CHECK_EQUAL(reserved, stats.reserved_bytes[0].current);
}

std::atomic<int> errors_logged{0};

}  // namespace

TEST(zero_bytes_are_null) {
  CHECK(memory::allocate(0, default_stream(0)) == nullptr);
  memory::deallocate(nullptr);
  CHECK(host_memory::allocate(0) == nullptr);
  host_memory::deallocate(nullptr);
  CHECK_THROWS(UsageError, memory::allocate(1, Stream()));
}

TEST(own_stream_reuses_at_once) {
  if (strict::enabled()) return;  // strict memory never reuses
  Stream stream = default_stream(0);
  void* first = memory::allocate(70000, stream);
  hold(stream, static_cast<unsigned*>(first), 1, 20);
  memory::deallocate(first);
  void* second = memory::allocate(70000, stream);
  CHECK(first == second);
  stream.synchronize();
  memory::deallocate(second);
}

TEST(another_stream_does_not_take_a_free_block) {
  Stream a = stream_from_pool(0), b = stream_from_pool(0);
  void* first = memory::allocate(70000, a);
  memory::deallocate(first);
  void* second = memory::allocate(70000, b);
  CHECK(first != second);
  memory::deallocate(second);
}

// Without record_stream() the block's own stream would reuse it while the other stream still writes to it.
TEST(recorded_stream_keeps_the_block) {
  if (strict::enabled()) return;  // strict memory makes hold() block until its work has completed
  Stream a = stream_from_pool(0), b = stream_from_pool(0);
  auto* shared = static_cast<unsigned*>(memory::allocate(70000, a));
  hold(b, shared, 42, 200);
  memory::record_stream(shared, b);
  memory::record_stream(shared + 100, b);  // anywhere inside, any number of times
  memory::deallocate(shared);
  CHECK(!b.query());
  void* other = memory::allocate(70000, a);
  CHECK(other != shared);
  auto stats = memory::stats(0);
  // A block that is freed but still in use by a stream counts as active.
  CHECK(stats.active[0].current == stats.allocation[0].current + 1);
  check_snapshot();
  b.synchronize();
  void* again = memory::allocate(70000, a);
  CHECK(again == shared);
  memory::deallocate(again);
  memory::deallocate(other);
  check_consistent(memory::stats(0));
}

TEST(empty_cache_waits_for_recorded_streams) {
  Stream a = stream_from_pool(0), b = stream_from_pool(0);
  memory::empty_cache(0);
  auto* shared = static_cast<unsigned*>(memory::allocate(40 << 20, a));
  hold(b, shared, 42, 100);
  memory::record_stream(shared, b);
  memory::deallocate(shared);
  std::size_t released = memory::empty_cache(0);
  CHECK(strict::enabled() || released >= (40u << 20));
  CHECK(b.query());
  check_consistent(memory::stats(0));
  CHECK_EQUAL(memory::stats(0).active[0].current, memory::stats(0).allocation[0].current);
}

TEST(invalid_frees_are_logged) {
  set_log_sink([](LogLevel level, const std::string&) { errors_logged += level == LogLevel::error; });
  int local = 0;
  memory::deallocate(&local);
  void* ptr = memory::allocate(100, default_stream(0));
  memory::deallocate(static_cast<char*>(ptr) + 8);
  CHECK_EQUAL(errors_logged.load(), 2);
  memory::deallocate(ptr);
  CHECK_EQUAL(errors_logged.load(), 2);
  memory::deallocate(ptr);
  CHECK_EQUAL(errors_logged.load(), 3);
  void* pinned = host_memory::allocate(100);
  memory::deallocate(pinned);
  CHECK_EQUAL(errors_logged.load(), 4);
  host_memory::deallocate(pinned);
  host_memory::deallocate(pinned);
  CHECK_EQUAL(errors_logged.load(), 5);
  set_log_sink(nullptr);
  check_consistent(memory::stats(0));
}

TEST(find_accepts_any_address_inside_a_block) {
  Stream stream = stream_from_pool(0);
  auto* ptr = static_cast<char*>(memory::allocate(3000, stream, memory::owner("finder")));
  for (char* inside : {ptr, ptr + 1, ptr + 2999}) {
    auto block = memory::find(inside);
    CHECK(block.base == ptr);
    CHECK_EQUAL(block.requested, 3000u);
    CHECK(block.stream == stream);
    CHECK_EQUAL(memory::owner_name(block.owner), "finder");
  }
  CHECK_EQUAL(device_of_pointer(ptr + 5), 0);
  memory::deallocate(ptr);
  CHECK(memory::find(ptr).base == nullptr);
  int local = 0;
  CHECK(memory::find(&local).base == nullptr);
}

TEST(private_pool_shares_with_nobody) {
  if (strict::enabled()) return;  // strict memory never reuses
  Stream stream = stream_from_pool(0);
  auto pool = memory::create_pool();
  memory::open_pool(0, pool);
  void* inside = memory::allocate(70000, stream);
  memory::deallocate(inside);
  CHECK(memory::allocate(70000, stream) == inside);
  memory::deallocate(inside);
  memory::close_pool(0, pool);
  CHECK_THROWS(UsageError, memory::close_pool(0, pool));
  void* outside = memory::allocate(70000, stream);
  CHECK(outside != inside);
  memory::empty_cache(0);
  CHECK(!memory::snapshot().empty());
  memory::open_pool(0, pool);
  CHECK(memory::allocate(70000, stream) == inside);
  memory::close_pool(0, pool);
  memory::release_pool(0, pool);
  memory::deallocate(inside);  // still private: of the two uses, by open_pool(), one is left
  CHECK(memory::allocate(70000, stream) != inside);
  memory::release_pool(0, pool);
  CHECK_THROWS(UsageError, memory::release_pool(0, pool));
  for (auto& segment : memory::snapshot()) CHECK_EQUAL(segment.pool, 0u);
  check_snapshot();
}

TEST(unsplit_pool_serves_one_allocation_by_a_segment) {
  if (strict::enabled()) return;  // strict memory never reuses
  Stream stream = stream_from_pool(0);
  for (bool splits : {true, false}) {
    auto pool = memory::create_pool(splits);
    memory::open_pool(0, pool);
    void* large = memory::allocate(40 << 20, stream);
    memory::deallocate(large);
    void* first = memory::allocate(2 << 20, stream);
    CHECK(first == large);
    auto* second = static_cast<char*>(memory::allocate(2 << 20, stream));
    bool is_inside = second > large && second < static_cast<char*>(large) + (40 << 20);
    CHECK_EQUAL(is_inside, splits);
    memory::deallocate(first);
    memory::deallocate(second);
    memory::close_pool(0, pool);
    memory::release_pool(0, pool);
  }
  check_snapshot();
}

TEST(injected_failure_changes_no_counter) {
  Stream stream = default_stream(0);
  auto before = memory::stats(0);
  for (std::uint64_t k = 1; k <= 50; ++k) {
    memory::fail_allocation(k);
    std::vector<void*> held;
    int failures = 0;
    for (int i = 0; i < 60; ++i) {
      try {
        held.push_back(memory::allocate(1000 + 40000 * static_cast<std::size_t>(i), stream));
      } catch (const OutOfMemory&) {
        ++failures;
      }
    }
    CHECK_EQUAL(failures, 1);
    for (void* ptr : held) memory::deallocate(ptr);
  }
  memory::fail_allocation(0);
  auto after = memory::stats(0);
  check_consistent(after);
  CHECK_EQUAL(after.allocated_bytes[0].current, before.allocated_bytes[0].current);
  CHECK_EQUAL(after.num_ooms, before.num_ooms);
}

TEST(out_of_memory_reports_figures_and_leaves_pool_usable) {
  constexpr std::size_t mega = 1 << 20;
  Stream stream = default_stream(0);
  memory::empty_cache(0);
  auto ooms = memory::stats(0).num_ooms;
  memory::set_limit(0, 256 * mega);
  std::vector<void*> held;
  auto text = CHECK_THROWS(
      OutOfMemory, for (;;) held.push_back(memory::allocate(30 * mega, stream, memory::owner("greedy"))));
  for (auto* part : {"asked: 30.00 MiB", "for greedy", "free on the device", "reserved by the pool",
                     "allocated:", "by greedy", "largest free block", "limit: 256.00 MiB", "XPU_MEMORY_LIMIT",
                     "set_limit", "empty_cache"})
    if (text.find(part) == std::string::npos)
      harness::fail(__FILE__, __LINE__, std::string(part) + " is not in: " + text);
  CHECK_EQUAL(memory::stats(0).num_ooms, ooms + 1);
  for (void* ptr : held) memory::deallocate(ptr);
  void* other = memory::allocate(200 * mega, stream);
  memory::deallocate(other);
  CHECK_EQUAL(memory::set_limit(0, 0), 256 * mega);
  CHECK_THROWS(OutOfMemory, memory::allocate(~std::size_t{0} - 5, stream));  // overflows if rounded up
  CHECK_THROWS(OutOfMemory, memory::allocate(device_info(0).max_allocation + 1, stream));
  check_consistent(memory::stats(0));
}

TEST(pinned_memory) {
  auto* ptr = static_cast<char*>(host_memory::allocate(3 << 20));
  CHECK(host_memory::is_pinned(ptr) && host_memory::is_pinned(ptr + (3 << 20) - 1));
  int local = 0;
  CHECK(!host_memory::is_pinned(&local) && !host_memory::is_pinned(nullptr));
  ptr[0] = 1;
  host_memory::deallocate(ptr);
  CHECK(host_memory::allocate(3 << 20) == ptr);
  if (!strict::enabled()) {
    Stream stream = stream_from_pool(0);
    hold(stream, reinterpret_cast<unsigned*>(ptr), 9, 100);
    host_memory::record_stream(ptr, stream);
    host_memory::deallocate(ptr);
    void* other = host_memory::allocate(3 << 20);
    CHECK(other != ptr);
    stream.synchronize();
    CHECK(host_memory::allocate(3 << 20) == ptr);
    host_memory::deallocate(other);
  }
  host_memory::deallocate(ptr);
  CHECK(host_memory::empty_cache() >= (3u << 20));
  auto stats = host_memory::stats();
  CHECK_EQUAL(stats.allocated_bytes.current, 0);
  CHECK_EQUAL(stats.allocations.allocated - stats.allocations.freed, 0);
}

// Random allocations and frees by 8 threads on 4 streams: XPU_TEST_OPERATIONS in total.
TEST(many_threads_leave_exact_statistics) {
  const char* wanted = std::getenv("XPU_TEST_OPERATIONS");
  const long operations = wanted ? std::atol(wanted) : strict::enabled() ? 8000 : 400000;
  std::vector<Stream> streams{default_stream(0), stream_from_pool(0), stream_from_pool(0),
                              stream_from_pool(0)};
  auto before = memory::stats(0);
  std::vector<std::thread> threads;
  std::atomic<long> allocations{0};
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::minstd_rand random(t + 1);
      std::vector<void*> held;
      auto mine = memory::owner("thread " + std::to_string(t % 3));
      for (long i = 0; i < operations / 8; ++i) {
        if (held.size() > 30 || (!held.empty() && random() % 2)) {
          std::size_t at = random() % held.size();
          if (random() % 5000 == 0) memory::record_stream(held[at], streams[random() % 4]);
          memory::deallocate(held[at]);
          held[at] = held.back();
          held.pop_back();
        } else {
          std::size_t bytes = 1 + random() % (std::size_t{1} << (4 + random() % 18));
          held.push_back(memory::allocate(bytes, streams[random() % 4], mine));
          ++allocations;
        }
      }
      for (void* ptr : held) memory::deallocate(ptr);
    });
  }
  for (auto& thread : threads) thread.join();
  synchronize(0);
  memory::empty_cache(0);
  auto after = memory::stats(0);
  check_consistent(after);
  check_snapshot();
  CHECK_EQUAL(after.allocation[0].allocated - before.allocation[0].allocated, allocations.load());
  CHECK_EQUAL(after.allocation[0].current, before.allocation[0].current);
  CHECK_EQUAL(after.allocated_bytes[0].current, before.allocated_bytes[0].current);
  CHECK_EQUAL(after.active[0].current, after.allocation[0].current);
}

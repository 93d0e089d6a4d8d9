// What every resource and every adaptor must do, written once and run on each.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "harness.h"
#include "memory/address_index.h"
#include "memory/caching.h"
#include "memory/failing.h"
#include "memory/limiting.h"
#include "memory/logging.h"
#include "memory/notifying.h"
#include "memory/statistics.h"
#include "memory/strict/source.h"
#include "memory/usm_source.h"
#include "xpu/copy.h"
#include "xpu/device.h"
#include "xpu/error.h"

using namespace xpu;
using namespace xpu::memory;

namespace {

/// The resource under test on top of the others, with a count of what the source gave out.
struct Stack {
  std::unique_ptr<Resource> source = std::make_unique<DeviceSource>(0);
  StatisticsResource counted{*source};
  AddressIndex index;
  FailureCounter failures;
  AllocationLog allocation_log;
  std::atomic<Observer> observer{nullptr};
  std::vector<std::unique_ptr<Resource>> adaptors;
  Resource* top = &counted;

  template <class R, class... Args>
  R& add(Args&&... args) {
    auto made = std::make_unique<R>(std::forward<Args>(args)...);
    R& added = *made;
    adaptors.push_back(std::move(made));
    top = &added;
    return added;
  }
  CachingResource& add_caching(bool keep_segments = true) {
    return add<CachingResource>(*top, index,
                                CachingResource::Options{.device = 0, .keep_segments = keep_segments});
  }
  ~Stack() {
    while (!adaptors.empty()) adaptors.pop_back();
  }
};

using Build = void (*)(Stack&);
const std::pair<const char*, Build> candidates[] = {
    {"source", [](Stack&) {}},
    {"limiting", [](Stack& s) { s.add<LimitingResource>(*s.top, std::size_t{0}); }},
    {"statistics", [](Stack& s) { s.add<StatisticsResource>(*s.top); }},
    {"failing", [](Stack& s) { s.add<FailingResource>(*s.top, s.failures); }},
    {"logging",
     [](Stack& s) {
       s.allocation_log.open("/dev/null");
       s.add<LoggingResource>(*s.top, s.allocation_log);
     }},
    {"caching", [](Stack& s) { s.add_caching(); }},
    {"caching that keeps nothing", [](Stack& s) { s.add_caching(false); }},
    {"notifying",
     [](Stack& s) {
       s.observer = [](void*, std::int64_t, int, std::int64_t, std::int64_t) {};
       auto& pool = s.add_caching();
       s.add<NotifyingResource>(pool, s.observer);
     }},
    {"all",
     [](Stack& s) {
       s.add<LimitingResource>(*s.top, std::size_t{0});
       s.observer = [](void*, std::int64_t, int, std::int64_t, std::int64_t) {};
       s.allocation_log.open("/dev/null");
       auto& pool = s.add_caching();
       s.add<NotifyingResource>(pool, s.observer);
       s.add<LoggingResource>(*s.top, s.allocation_log);
       s.add<FailingResource>(*s.top, s.failures);
     }},
};

void on_each(const std::function<void(Stack&)>& check) {
  for (auto& [name, build] : candidates) {
    Stack stack;
    build(stack);
    try {
      check(stack);
    } catch (const harness::Failure& e) {
      throw harness::Failure(std::string(name) + ": " + e.what());
    }
    // Everything was freed, so all of it can go back.
    stack.top->release_unused();
    if (stack.counted.counts().bytes.current != 0)
      throw harness::Failure(std::string(name) + ": memory leaked");
  }
}

const std::size_t classes[] = {
    1, 511, 512, 513, 100000, 1 << 20, (1 << 20) + 1, 2 << 20, (10 << 20) - 1, 10 << 20, 33 << 20};

/// Memory that overlaps no other: fails otherwise.
struct Ledger {
  std::map<std::uintptr_t, std::size_t> live;
  void add(void* ptr, std::size_t bytes) {
    auto at = reinterpret_cast<std::uintptr_t>(ptr);
    CHECK(ptr != nullptr);
    CHECK_EQUAL(at % 64, 0u);
    auto after = live.lower_bound(at);
    CHECK(after == live.end() || at + bytes <= after->first);
    CHECK(after == live.begin() || std::prev(after)->first + std::prev(after)->second <= at);
    live[at] = bytes;
  }
  void remove(void* ptr) { live.erase(reinterpret_cast<std::uintptr_t>(ptr)); }
};

void check_usable(Stream stream, void* ptr, std::size_t bytes) {
  std::size_t edge = std::min<std::size_t>(bytes, 16);
  unsigned char back[16];
  fill_bytes(stream, ptr, 0x5A, bytes);
  copy(stream, back, static_cast<char*>(ptr) + bytes - edge, edge);
  stream.synchronize();
  CHECK(std::all_of(back, back + edge, [](unsigned char c) { return c == 0x5A; }));
}

struct Held {
  void* ptr;
  std::size_t bytes;
};

/// `turns` random steps of one thread; frees all at the end.
void random_steps(Resource& resource, Stream stream, int turns, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Held> held;
  auto drop = [&](std::size_t at) {
    resource.deallocate(held[at].ptr, held[at].bytes, stream);
    held[at] = held.back();
    held.pop_back();
  };
  for (int i = 0; i < turns; ++i) {
    if (held.size() > 20 || (!held.empty() && random() % 2)) {
      drop(random() % held.size());
      continue;
    }
    std::size_t bytes = 1 + random() % (std::size_t{1} << (4 + random() % 18));
    held.push_back({resource.allocate(bytes, stream, 0), bytes});
  }
  while (!held.empty()) drop(held.size() - 1);
}

}  // namespace

TEST(each_size_class_is_usable) {
  on_each([](Stack& s) {
    Stream stream = default_stream(0);
    Ledger ledger;
    std::vector<Held> held;
    for (std::size_t bytes : classes) {
      held.push_back({s.top->allocate(bytes, stream, 0), bytes});
      ledger.add(held.back().ptr, bytes);
    }
    for (auto& h : held) check_usable(stream, h.ptr, h.bytes);
    for (auto& h : held) s.top->deallocate(h.ptr, h.bytes, stream);
  });
}

TEST(own_stream_as_default_stream) {
  on_each([](Stack& s) {
    for (Stream stream : {default_stream(0), stream_from_pool(0), stream_from_pool(0, -1)}) {
      void* ptr = s.top->allocate(5000, stream, 0);
      check_usable(stream, ptr, 5000);
      s.top->deallocate(ptr, 5000, stream);
    }
  });
}

TEST(random_mix_never_overlaps) {
  on_each([](Stack& s) {
    Stream stream = default_stream(0);
    std::mt19937 random(7);
    Ledger ledger;
    std::vector<Held> held;
    for (int i = 0; i < 3000; ++i) {
      if (held.size() > 60 || (!held.empty() && random() % 2)) {
        std::size_t at = random() % held.size();
        ledger.remove(held[at].ptr);
        s.top->deallocate(held[at].ptr, held[at].bytes, stream);
        held[at] = held.back();
        held.pop_back();
      } else {
        std::size_t bytes = 1 + random() % (std::size_t{1} << (4 + random() % 19));
        held.push_back({s.top->allocate(bytes, stream, 0), bytes});
        ledger.add(held.back().ptr, bytes);
      }
    }
    for (auto& h : held) s.top->deallocate(h.ptr, h.bytes, stream);
  });
}

TEST(threads) {
  on_each([](Stack& s) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t)
      threads.emplace_back(
          [&s, t] { random_steps(*s.top, t % 2 ? stream_from_pool(0) : default_stream(0), 300, t); });
    for (auto& thread : threads) thread.join();
  });
}

TEST(failed_allocation_leaks_nothing) {
  on_each([](Stack& s) {
    Stream stream = default_stream(0);
    // Below a failing source, so that the resource under test must clean up after itself.
    FailingResource failing(*s.top, s.failures);
    for (std::uint64_t k = 1; k <= 50; ++k) {
      s.failures.start(k);
      std::vector<Held> held;
      int failures = 0;
      for (std::size_t i = 0; i < 60; ++i) {
        std::size_t bytes = classes[i % 7];
        try {
          held.push_back({failing.allocate(bytes, stream, 0), bytes});
        } catch (const OutOfMemory&) {
          ++failures;
        }
      }
      CHECK(failures >= 1);
      for (auto& h : held) failing.deallocate(h.ptr, h.bytes, stream);
      s.failures.start(0);
    }
  });
}

TEST(failing_source_is_survived_by_the_cache) {
  Stack s;
  s.add<FailingResource>(*s.top, s.failures);
  auto& pool = s.add_caching();
  Stream stream = default_stream(0);
  for (std::uint64_t k = 1; k <= 50; ++k) {
    s.failures.start(k);
    std::vector<Held> held;
    for (std::size_t i = 0; i < 60; ++i) {
      // Large enough that each is a segment, so that each reaches the source.
      std::size_t bytes = (10 + i % 3) << 20;
      held.push_back({pool.allocate(bytes, stream, 0), bytes});
    }
    for (auto& h : held) pool.deallocate(h.ptr, h.bytes, stream);
    s.failures.start(0);
    pool.release_unused();
    CHECK_EQUAL(s.counted.counts().bytes.current, 0);
    CHECK_EQUAL(pool.stats().reserved_bytes[all].current, 0);
    CHECK_EQUAL(pool.stats().num_ooms, 0);
  }
  CHECK_EQUAL(pool.stats().num_alloc_retries, 50);
}

TEST(limit_is_kept_and_recovered_from) {
  Stack s;
  constexpr std::size_t mega = 1 << 20, most = 256 * mega;
  auto& limiting = s.add<LimitingResource>(*s.top, most);
  auto& pool = s.add_caching();
  Stream stream = default_stream(0);
  for (int round = 0; round < 3; ++round) {
    std::vector<void*> held;
    CHECK_THROWS(OutOfMemory, for (;;) held.push_back(pool.allocate(3 * mega, stream, 0)));
    CHECK(held.size() >= 76);  // 12 segments of 20 MB with 6 each, then 4 of their own
    CHECK(s.counted.counts().bytes.peak <= static_cast<std::int64_t>(most));
    for (void* ptr : held) pool.deallocate(ptr, 3 * mega, stream);
    // All of it is cached in another shape: it must be given back for this.
    void* big = pool.allocate(200 * mega, stream, 0);
    pool.deallocate(big, 200 * mega, stream);
  }
  CHECK_EQUAL(limiting.set_limit(8 * mega), most);
  pool.release_unused();
  CHECK_THROWS(OutOfMemory, pool.allocate(9 * mega, stream, 0));
  void* ptr = pool.allocate(7 * mega, stream, 0);
  pool.deallocate(ptr, 7 * mega, stream);
}

TEST(strict_source_never_uses_an_address_again) {
  strict::StrictSource source(0);
  Stream stream = default_stream(0);
  Ledger ledger;
  for (std::size_t bytes : classes) {
    void* ptr = source.allocate(bytes, stream, 0);
    ledger.add(ptr, bytes);
    // Ends against a guard page, but for the fill up to the alignment.
    CHECK((reinterpret_cast<std::uintptr_t>(ptr) + bytes + 63) / 64 * 64 % 4096 == 0);
    source.deallocate(ptr, bytes, stream);
  }
}

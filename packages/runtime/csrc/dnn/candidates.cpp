#include "dnn/candidates.h"

#include <atomic>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <shared_mutex>
#include <unordered_map>

#include "process/env.h"
#include "process/immortal.h"
#include "xpu/dnn.h"
#include "xpu/trace.h"

namespace xpu::dnn {
namespace {

constexpr std::size_t max_entries = 4096;

struct Entry {
  std::vector<std::int64_t> key;
  PlanPtr plan;
  std::atomic<std::uint64_t> last_used;
  Entry(std::vector<std::int64_t> k, PlanPtr p, std::uint64_t now)
      : key(std::move(k)), plan(std::move(p)), last_used(now) {}
};

struct Cache {
  std::shared_mutex mutex;
  std::unordered_multimap<std::uint64_t, Entry> entries;
  std::string forced = env::text("XPU_DNN_CANDIDATE");
  std::atomic<std::uint64_t> hits{0}, misses{0}, clock{0};
};

Cache& cache() {
  static auto& one = immortal<Cache>();
  return one;
}

thread_local PlanPtr last_plan;

PlanPtr look_up(const Problem& problem, std::uint64_t hash) {
  auto& c = cache();
  std::shared_lock lock(c.mutex);
  auto [begin, end] = c.entries.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (!problem.matches(it->second.key)) continue;
    it->second.last_used.store(c.clock.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
    return it->second.plan;
  }
  return nullptr;
}

void evict_oldest_half(Cache& c) {
  auto limit = c.clock.load() - max_entries / 2;
  std::erase_if(c.entries, [&](auto& e) { return e.second.last_used.load() < limit; });
}

void insert_plan(const Problem& problem, std::uint64_t hash, PlanPtr plan) {
  auto& c = cache();
  std::unique_lock lock(c.mutex);
  if (c.entries.size() >= max_entries) evict_oldest_half(c);
  c.entries.emplace(std::piecewise_construct, std::forward_as_tuple(hash),
                    std::forward_as_tuple(problem.key(), std::move(plan), c.clock++));
}

PlanPtr choose(const Problem& problem, const std::vector<Candidate>& candidates) {
  std::string forced = forced_candidate();
  std::vector<std::string> outcomes;
  for (auto& candidate : candidates) {
    if (!forced.empty() && forced != candidate.name) {
      outcomes.push_back(join(candidate.name, ": not tried (", forced, " is forced)"));
      continue;
    }
    try {
      auto plan = std::make_shared<Plan>(problem);
      auto implementation = candidate.make(*plan);
      outcomes.push_back(join(candidate.name, implementation.empty() ? "" : " ", implementation, ": used"));
      plan->explanation = std::move(outcomes);
      plan->candidate = candidate.name;
      return plan;
    } catch (const Rejection& rejection) {
      outcomes.push_back(join(candidate.name, ": rejected (", rejection.reason, ")"));
    } catch (const dnnl::error& e) {
      std::string why = e.what();  // its second sentence advises a variable of oneDNN's own
      outcomes.push_back(join(candidate.name, ": rejected (oneDNN: ", why.substr(0, why.find(". ")), ")"));
    }
  }
  std::string list;
  for (auto& line : outcomes) list += "\n  " + line;
  fail<Unsupported>(problem.op(), ": no candidate supports this call", list);
}

}  // namespace

PlanPtr find_plan(const Problem& problem, const std::function<std::vector<Candidate>()>& candidates) {
  auto hash = problem.hash();
  if (auto plan = look_up(problem, hash)) {
    cache().hits.fetch_add(1, std::memory_order_relaxed);
    return last_plan = std::move(plan);
  }
  cache().misses.fetch_add(1, std::memory_order_relaxed);
  trace::Span span("dnn: create");
  auto plan = choose(problem, candidates());
  insert_plan(problem, hash, plan);
  return last_plan = std::move(plan);
}

std::vector<std::string> explain() {
  return last_plan ? last_plan->explanation : std::vector<std::string>();
}

CacheStats cache_stats() {
  std::shared_lock lock(cache().mutex);
  return {cache().entries.size(), cache().hits, cache().misses};
}

void clear_cache() {
  std::unique_lock lock(cache().mutex);
  cache().entries.clear();
  cache().hits = cache().misses = 0;
}

std::string forced_candidate() {
  std::shared_lock lock(cache().mutex);
  return cache().forced;
}

void force_candidate(const std::string& name) {
  std::unique_lock lock(cache().mutex);
  cache().forced = name;
  cache().entries.clear();
}

}  // namespace xpu::dnn

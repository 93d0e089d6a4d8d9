#include "exec/host_calls.h"

#include <mutex>

namespace xla_xpu {
namespace {

std::mutex mutex;
auto& counts() {
  static auto& all = *new std::map<std::string, std::atomic<std::uint64_t>>;
  return all;
}

}  // namespace

std::atomic<std::uint64_t>& host_calls_of(const std::string& name) {
  std::lock_guard lock(mutex);
  return counts()[name];
}

std::map<std::string, std::uint64_t> host_calls() {
  std::lock_guard lock(mutex);
  std::map<std::string, std::uint64_t> called;
  for (auto& [name, count] : counts())
    if (count) called[name] = count;
  return called;
}

}  // namespace xla_xpu

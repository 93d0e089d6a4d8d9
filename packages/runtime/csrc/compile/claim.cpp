#include "compile/claim.h"

#include <condition_variable>
#include <mutex>
#include <set>

#include "process/immortal.h"
#include "process/interrupt.h"
#include "process/thread_registry.h"

namespace xpu {
namespace {

struct Claims {
  std::mutex mutex;
  std::condition_variable released;
  std::set<std::string> keys;
};
Claims& claims() {
  static auto& instance = leaked<Claims>();
  return instance;
}

}  // namespace

Claim::Claim(std::string key) : key_(std::move(key)) {
  auto& [mutex, released, keys] = claims();
  thread_registry::BlockingScope blocking;
  std::unique_lock lock(mutex);
  while (!keys.insert(key_).second) {
    waited_ = true;
    if (released.wait_for(lock, interrupt::check_interval) == std::cv_status::no_timeout) continue;
    lock.unlock();
    interrupt::check_operation();
    lock.lock();
  }
}

std::unique_ptr<Claim> Claim::attempt(std::string key) {
  auto& all = claims();
  std::lock_guard lock(all.mutex);
  if (!all.keys.insert(key).second) return nullptr;
  return std::unique_ptr<Claim>(new Claim(std::move(key), Granted{}));
}

Claim::~Claim() {
  auto& all = claims();
  {
    std::lock_guard lock(all.mutex);
    all.keys.erase(key_);
  }
  all.released.notify_all();
}

}  // namespace xpu

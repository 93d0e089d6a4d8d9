#include "graph/recording.h"

#include <algorithm>
#include <atomic>
#include <sycl/sycl.hpp>

#include "stream_state.h"
#include "xpu/error.h"

namespace xpu {
namespace {

void close_pool_of(Stream stream, memory::PoolId pool) {
  memory::close_pool(stream, pool);
  memory::release_pool(stream.device(), pool);
}

}  // namespace

Recording::Recording(bool native, bool on_cpu)
    : id_([] {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
      }()),
      native_(native),
      on_cpu_(on_cpu) {}

bool Recording::note(const WorkInfo& info, Submit submit) {
  std::lock_guard lock(mutex_);
  ++size_;
  work_.push_back({info.kind, std::string(info.name), info.bytes, submit.own()});
  holds_host_tasks_ |= native_ && on_cpu_ && info.kind == WorkKind::dnn;
  return !native_ || holds_host_tasks_;
}

bool Recording::join(Stream stream, memory::PoolId pool) {
  auto& state = *stream.state();
  {
    std::lock_guard order(state.order);
    std::lock_guard lock(mutex_);
    if (ended_) return false;
    expect<UsageError>(!state.recording || state.recording.get() == this, "stream ", stream.id(),
                       " is being recorded into a graph and waits for what is recorded into another");
    if (state.recording) return true;
    state.recording = shared_from_this();
    state.capturing = true;
    joined_.push_back({stream, 0});
  }
  if (pool == 0 || state.pool.load() != 0) return true;
  memory::open_pool(stream, pool);
  std::unique_lock lock(mutex_);
  if (!ended_) {
    std::ranges::find(joined_, stream, &Joined::stream)->pool = pool;
    return true;
  }
  lock.unlock();  // another thread has ended the capture meanwhile
  close_pool_of(stream, pool);
  return false;
}

std::vector<Stream> Recording::joined() {
  std::lock_guard lock(mutex_);
  std::vector<Stream> streams;
  for (auto& joined : joined_) streams.push_back(joined.stream);
  return streams;
}

void Recording::release(const std::function<void(sycl::queue&)>& leave) {
  std::vector<Joined> all;
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
    all = joined_;
    for (auto& joined : joined_) joined.pool = 0;
  }
  for (auto& [stream, pool] : all) {
    auto& state = *stream.state();
    {
      std::lock_guard order(state.order);
      if (state.recording.get() == this) {
        leave(state.queue().sycl);
        state.recording = nullptr;
        state.capturing = false;
      }
    }
    if (pool) close_pool_of(stream, pool);
  }
}

}  // namespace xpu

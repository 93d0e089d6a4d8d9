#include "graph/capture.h"

#include <algorithm>
#include <atomic>
#include <sycl/sycl.hpp>

#include "devices/sycl_error.h"
#include "streams/stream_state.h"
#include "xpu/error.h"

namespace xpu {
namespace {

void close_pool_of(Stream stream, memory::PoolId pool) {
  memory::close_pool(stream, pool);
  memory::release_pool(stream.device(), pool);
}

}  // namespace

Capture::Capture(bool native, bool on_cpu)
    : id_([] {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
      }()),
      native_(native),
      on_cpu_(on_cpu) {}

bool Capture::add(const WorkInfo& info, EnqueueFunction function) {
  std::lock_guard lock(mutex_);
  ++size_;
  work_.push_back({info.kind, std::string(info.name), info.bytes, function.clone()});
  holds_host_tasks_ |= native_ && on_cpu_ && info.kind == WorkKind::dnn;
  return !native_ || holds_host_tasks_;
}

bool Capture::join(Stream stream, memory::PoolId pool) {
  auto& state = *stream.state();
  {
    std::lock_guard enqueue_lock(state.enqueue_mutex);
    std::lock_guard lock(mutex_);
    if (is_ended_) return false;
    expect<UsageError>(
        !state.capture || state.capture.get() == this, "stream ", stream.id(),
        " is being captured into a graph, so it cannot wait for work that is captured into another");
    if (state.capture) return true;
    translate_sycl_errors("capturing a stream that joins", [&] {
      if (state.watch) state.watch->disarm(state.own.sycl);
    });
    state.capture = shared_from_this();
    state.capturing = true;
    joined_.push_back({stream, 0});
  }
  if (pool == 0 || state.pool.load() != 0) return true;
  memory::open_pool(stream, pool);
  std::unique_lock lock(mutex_);
  if (!is_ended_) {
    std::ranges::find(joined_, stream, &Joined::stream)->pool = pool;
    return true;
  }
  lock.unlock();  // another thread has ended the capture meanwhile
  close_pool_of(stream, pool);
  return false;
}

std::vector<Stream> Capture::joined_streams() {
  std::lock_guard lock(mutex_);
  std::vector<Stream> streams;
  for (auto& joined : joined_) streams.push_back(joined.stream);
  return streams;
}

void Capture::release_streams(const std::function<void(sycl::queue&)>& end_recording) {
  std::vector<Joined> all;
  {
    std::lock_guard lock(mutex_);
    is_ended_ = true;
    all = joined_;
    for (auto& joined : joined_) joined.pool = 0;
  }
  for (auto& [stream, pool] : all) {
    auto& state = *stream.state();
    {
      std::lock_guard enqueue_lock(state.enqueue_mutex);
      if (state.capture.get() == this) {
        end_recording(state.queue().sycl);
        state.capture = nullptr;
        state.capturing = false;
      }
    }
    if (pool) close_pool_of(stream, pool);
  }
}

}  // namespace xpu

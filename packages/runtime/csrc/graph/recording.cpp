#include "graph/recording.h"

#include <atomic>
#include <sycl/sycl.hpp>

#include "stream_state.h"
#include "xpu/error.h"

namespace xpu {

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

void Recording::join(Stream stream, memory::PoolId pool) {
  std::lock_guard lock(mutex_);
  auto& state = *stream.state();
  auto* before = state.recording.load();
  expect<UsageError>(!before || before == this, "stream ", stream.id(),
                     " is being recorded into a graph and waits for what is recorded into another");
  if (before) return;
  state.recording = this;
  bool without = pool && state.pool.load() == 0;
  if (without) memory::open_pool(stream, pool);
  joined_.push_back({stream, without ? pool : 0});
}

std::vector<Stream> Recording::joined() const {
  std::vector<Stream> streams;
  for (auto& joined : joined_) streams.push_back(joined.stream);
  return streams;
}

void Recording::release() {
  for (auto& [stream, pool] : joined_) {
    if (auto* now = this; !stream.state()->recording.compare_exchange_strong(now, nullptr)) continue;
    if (!pool) continue;
    memory::close_pool(stream, pool);
    memory::release_pool(stream.device(), pool);
    pool = 0;
  }
}

}  // namespace xpu

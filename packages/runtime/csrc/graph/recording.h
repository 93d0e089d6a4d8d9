// What a graph holds while, and after, a stream is recorded.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/draws.h"
#include "xpu/launch.h"
#include "xpu/memory.h"

namespace xpu {

/// One piece of work kept to be submitted again.
struct RecordedWork {
  WorkKind kind;
  std::string name;
  std::size_t bytes;
  Submit::Owned submit;
};

class Recording : public std::enable_shared_from_this<Recording> {
 public:
  Recording(bool native, bool on_cpu);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Records a stream that waits for a recorded one, too: in the order of the calls, with memory of `pool`.
  /// False when the recording has ended.
  bool join(Stream stream, memory::PoolId pool);
  /// Every stream that joined.
  std::vector<Stream> joined();
  /// They are recorded no more. `leave(queue)` is called for each, under the lock of its stream.
  void release(const std::function<void(sycl::queue&)>& leave);
  /// Keeps the work. False when the submission must still be made, because SYCL is recording the queue
  /// itself and that is what will be replayed.
  bool note(const WorkInfo& info, Submit submit);
  /// No other recording of the process has, or had, the same.
  std::uint64_t id() const { return id_; }
  bool native() const { return native_; }
  /// Whether SYCL's graph is not to be replayed: on a CPU it holds host tasks for oneDNN's work, which take
  /// far longer than the work and may overtake what was recorded before them.
  bool holds_host_tasks() const { return holds_host_tasks_; }
  /// Once the recording is finished: which of the two to keep.
  void keep(bool native) {
    native_ = native;
    if (native) work_.clear();
  }
  std::size_t size() const { return size_; }
  std::vector<RecordedWork>& work() { return work_; }
  Draws& draws() { return draws_; }

 private:
  const std::uint64_t id_;
  bool native_, on_cpu_, holds_host_tasks_ = false;
  std::mutex mutex_;  // taken after the lock of a stream
  struct Joined {
    Stream stream;
    memory::PoolId pool;  // 0: it had one
  };
  std::vector<Joined> joined_;
  bool ended_ = false;
  std::size_t size_ = 0;
  std::vector<RecordedWork> work_;
  Draws draws_;
};

}  // namespace xpu

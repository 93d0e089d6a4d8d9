// The work of one graph, captured from its streams. Outlives the capture: a list of work is replayed from
// here.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/random_state.h"
#include "xpu/enqueue.h"
#include "xpu/memory.h"

namespace xpu {

/// One submission, kept to be enqueued again.
struct CapturedWork {
  WorkKind kind;
  std::string name;
  std::size_t bytes;
  EnqueueFunction::Owned function;
};

/// add() and the functions about streams are thread-safe; the others are for the thread that ended the
/// capture.
class Capture : public std::enable_shared_from_this<Capture> {
 public:
  Capture(bool native, bool on_cpu);
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// Captures one more stream, which waits for a captured one; its memory comes from `pool`. Returns false if
  /// the capture has ended. Throws UsageError if another graph captures the stream.
  bool join(Stream stream, memory::PoolId pool);
  std::vector<Stream> joined_streams();
  /// Ends the capture of every joined stream. Calls `end_recording(queue)` for each, under its lock.
  void release_streams(const std::function<void(sycl::queue&)>& end_recording);
  /// Stores the work. Returns false if the caller must submit it too, because SYCL records the queue and its
  /// graph is what will be replayed.
  bool add(const WorkInfo& info, EnqueueFunction function);
  /// Unique in the process.
  std::uint64_t id() const { return id_; }
  bool is_native() const { return native_; }
  /// True if SYCL's graph must not be replayed: on a CPU it holds host tasks for oneDNN's work, which take
  /// far longer than the work and may overtake what was captured before them.
  bool holds_host_tasks() const { return holds_host_tasks_; }
  /// Call once, after the capture: `native` keeps SYCL's graph and drops the list of work.
  void select_mode(bool native) {
    native_ = native;
    if (native) work_.clear();
  }
  std::size_t size() const { return size_; }
  std::vector<CapturedWork>& work() { return work_; }
  GraphRandomState& random_state() { return random_state_; }

 private:
  const std::uint64_t id_;
  bool native_, on_cpu_, holds_host_tasks_ = false;
  std::mutex mutex_;  // taken after a stream's `enqueue_mutex`
  struct Joined {
    Stream stream;
    memory::PoolId pool;  // opened by join(); 0 if the stream had one
  };
  std::vector<Joined> joined_;
  bool is_ended_ = false;
  std::size_t size_ = 0;
  std::vector<CapturedWork> work_;
  GraphRandomState random_state_;
};

}  // namespace xpu

// Threads that run the host's part of collectives, each with a stream of its own.
#pragma once

#include <c10/core/impl/VirtualGuardImpl.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "xpu/stream.h"

namespace torch_xpu::distributed {

/// A stream that only the holder enqueues on: a stream of the program's may wait for the holder.
class LaneStream {
 public:
  explicit LaneStream(int device);
  ~LaneStream();  ///< keeps the stream for the next LaneStream
  LaneStream(const LaneStream&) = delete;
  LaneStream& operator=(const LaneStream&) = delete;

  const xpu::Stream stream;
};

/// Makes a stream PyTorch's current one on the calling thread, and its device.
class CurrentStream {
 public:
  explicit CurrentStream(xpu::Stream stream);
  ~CurrentStream();
  CurrentStream(const CurrentStream&) = delete;
  CurrentStream& operator=(const CurrentStream&) = delete;

 private:
  c10::impl::VirtualGuardImpl guard_;
  c10::Device device_;
  xpu::Stream stream_;
};

/// A thread that runs jobs in order. The thread shares ownership of its queue, so that a lane can be given up
/// while a job hangs in a transport.
class Lane {
 public:
  using Job = std::function<void()>;

  Lane();
  /// Gives the thread up: it ends after the jobs that it has.
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  void enqueue(Job job);

 private:
  struct Queue;
  std::shared_ptr<Queue> queue_;
};

/// Drops the reference on another thread. Tensors may belong to Python objects, so freeing them takes the
/// interpreter's lock; its holder may wait for a collective of the calling thread's.
void drop_in_background(std::shared_ptr<void> object);
/// From now on drop_in_background() keeps its objects: Python ends threads that ask for the lock of an
/// interpreter that ends, and C++ ends the process for that.
void keep_dropped_objects();

/// Runs a job on a thread of the process's pool, which has as many threads as jobs have run at a time.
void run_on_pool(Lane::Job job);

}  // namespace torch_xpu::distributed

#include "distributed/lane.h"

#include <atomic>
#include <map>
#include <thread>
#include <utility>
#include <vector>

namespace torch_xpu::distributed {
namespace {

// Streams are never destroyed, and programs may make any number of groups.
struct FreeStreams {
  std::mutex mutex;
  std::map<int, std::vector<xpu::Stream>> by_device;
};

FreeStreams& free_streams() {
  static auto& streams = *new FreeStreams;  // threads may use it during shutdown
  return streams;
}

xpu::Stream take_stream(int device) {
  auto& all = free_streams();
  {
    std::lock_guard lock(all.mutex);
    auto& free = all.by_device[device];
    if (!free.empty()) {
      auto stream = free.back();
      free.pop_back();
      return stream;
    }
  }
  return xpu::private_stream(device);
}

std::atomic<bool> keeps_objects{false};

// Idle threads of the pool.
struct Pool {
  std::mutex mutex;
  std::vector<std::shared_ptr<Lane>> idle;
};

Pool& pool() {
  static auto& instance = *new Pool;  // as above
  return instance;
}

}  // namespace

LaneStream::LaneStream(int device) : stream(take_stream(device)) {}

LaneStream::~LaneStream() {
  auto& all = free_streams();
  std::lock_guard lock(all.mutex);
  all.by_device[stream.device()].push_back(stream);
}

CurrentStream::CurrentStream(xpu::Stream stream)
    : guard_(c10::DeviceType::XPU),
      device_(guard_.exchangeDevice(
          c10::Device(c10::DeviceType::XPU, static_cast<c10::DeviceIndex>(stream.device())))),
      stream_(xpu::exchange_stream(stream)) {}

CurrentStream::~CurrentStream() {
  xpu::exchange_stream(stream_);
  guard_.setDevice(device_);
}

struct Lane::Queue {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;
  bool closed = false;

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return closed || !jobs.empty(); });
      if (jobs.empty()) return;
      auto job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      job();
      job = nullptr;  // its tensors are freed without the lock
      lock.lock();
    }
  }
};

Lane::Lane() : queue_(std::make_shared<Queue>()) {
  std::thread([queue = queue_] { queue->run(); }).detach();
}

Lane::~Lane() {
  {
    std::lock_guard lock(queue_->mutex);
    queue_->closed = true;
  }
  queue_->changed.notify_one();
}

void Lane::enqueue(Job job) {
  {
    std::lock_guard lock(queue_->mutex);
    queue_->jobs.push_back(std::move(job));
  }
  queue_->changed.notify_one();
}

void drop_in_background(std::shared_ptr<void> object) {
  static auto& lane = *new Lane;  // as above
  lane.enqueue([object = std::move(object)]() mutable {
    if (keeps_objects)
      new std::shared_ptr<void>(std::move(object));
    else
      object = nullptr;
  });
}

void keep_dropped_objects() {
  keeps_objects = true;
}

void run_on_pool(Lane::Job job) {
  std::shared_ptr<Lane> lane;
  {
    std::lock_guard lock(pool().mutex);
    if (!pool().idle.empty()) {
      lane = std::move(pool().idle.back());
      pool().idle.pop_back();
    }
  }
  if (!lane) lane = std::make_shared<Lane>();
  auto& to = *lane;
  to.enqueue([job = std::move(job), lane]() mutable {
    job();
    job = nullptr;
    std::lock_guard lock(pool().mutex);
    pool().idle.push_back(std::move(lane));
  });
}

}  // namespace torch_xpu::distributed

#include "xpu/graph.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <sycl/ext/oneapi/experimental/graph.hpp>
#include <sycl/sycl.hpp>

#include "devices/sycl_error.h"
#include "graph/capture.h"
#include "graph/instantiation.h"
#include "graph/start_barrier.h"
#include "launch/throttle.h"
#include "memory/strict/strict.h"
#include "process/env.h"
#include "process/immortal.h"
#include "process/startup.h"
#include "streams/stream_state.h"
#include "trace/recorder.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/event.h"
#include "xpu/log.h"
#include "xpu/memory.h"

namespace xpu {
namespace {

namespace ext = sycl::ext::oneapi::experimental;
using Modifiable = ext::command_graph<ext::graph_state::modifiable>;
using Executable = ext::command_graph<ext::graph_state::executable>;

// XPU_GRAPH=list turns native graphs off, to find out whether a driver's graphs are at fault.
bool use_native(int device) {
  auto mode = env::text("XPU_GRAPH", "native");
  expect<UsageError>(mode == "native" || mode == "list", "XPU_GRAPH: got \"", mode,
                     "\", expected native or list");
  return mode == "native" && device_info(device).graph;
}

}  // namespace

struct Graph::State {
  Stream stream;
  std::shared_ptr<Capture> capture;
  std::optional<Modifiable> modifiable;
  std::optional<Executable> executable, timed;  // `timed` is replayed while a trace is active
  bool ended = false;
  // Memory allocated on the stream during the capture comes from this private pool: the graph's own, or the
  // one that was open for the stream already.
  memory::PoolId pool = 0;
  bool pool_opened = false;  ///< by this graph, for the stream
  std::mutex replay_mutex;
  std::vector<Stream> replay_streams;  ///< work of the graph may be pending on them; under `replay_mutex`

  ~State() {
    std::vector<Stream> users = capture ? capture->joined_streams() : std::vector<Stream>();
    users.push_back(stream);
    if (capture && !ended) abandon();
    for (Stream user : users)
      for (Stream replay : replay_streams)
        if (user != replay) wait_for(user, replay);
    capture.reset();
    if (pool) memory::release_pool(stream.device(), pool);
  }

  void start(memory::PoolId wanted) {
    int device = stream.device();
    auto& state = *stream.state();
    auto serving = state.pool.load();
    if (serving && (wanted == 0 || wanted == serving)) {
      memory::retain_pool(device, serving);
      pool = serving;
    } else {
      auto opened = wanted ? wanted : memory::create_pool();
      memory::open_pool(stream, opened);
      pool = opened;
      pool_opened = true;
    }
    auto made = std::make_shared<Capture>(use_native(device), device_info(device).type == "cpu");
    made->random_state().reserve(stream);
    std::lock_guard enqueue_lock(state.enqueue_mutex);
    if (made->is_native()) {
      translate_sycl_errors("beginning to capture a graph", [&] {
        if (state.watch) state.watch->disarm(state.own.sycl);
        modifiable.emplace(sycl_context(device), sycl_device(device));
        modifiable->begin_recording(state.queue().sycl);
      });
    }
    capture = std::move(made);
    state.capture = capture;
    state.capturing = true;
  }

  /// From now on the streams run what is enqueued on them.
  void stop() {
    auto end_recording = [this](sycl::queue& queue) {
      if (modifiable) modifiable->end_recording(queue);
    };
    capture->release_streams(end_recording);
    {
      auto& state = *stream.state();
      std::lock_guard enqueue_lock(state.enqueue_mutex);
      end_recording(state.queue().sycl);
      state.capture = nullptr;
      state.capturing = false;
    }
    if (modifiable) modifiable->end_recording();  // of streams that SYCL took in by itself
    if (std::exchange(pool_opened, false)) memory::close_pool(stream, pool);
    set_profiling(*stream.state(), trace::active());
  }

  void abandon() noexcept {
    try {
      stop();
    } catch (const std::exception& e) {
      log(LogLevel::error, join("ending the capture of a graph that is destroyed: ", e.what()));
    }
  }

  // Later work of `user` may get memory of the pool, so it must come after the replay that uses it.
  static void wait_for(Stream user, Stream replay) noexcept {
    try {
      if (is_capturing(user)) return finish(*replay.state());
      Event end;
      end.record(replay);
      enqueue_wait(user, end);
    } catch (const std::exception& e) {
      log(LogLevel::error, join("waiting for the replays of a graph that is destroyed: ", e.what()));
    }
  }
};

namespace {

/// SYCL graphs of destroyed Graphs whose replays may still be pending: they must outlive those. Thread-safe.
class RetiredGraphs {
 public:
  static RetiredGraphs& instance() {
    static auto& graphs = immortal<RetiredGraphs>();
    return graphs;
  }

  template <class State>
  void add(State& state) {
    std::vector<Event> ends;
    for (Stream stream : state.replay_streams)
      if (!is_capturing(stream)) ends.emplace_back().record(stream);
    std::lock_guard lock(mutex_);
    all_.push_back({std::move(ends), std::move(state.executable), std::move(state.timed)});
  }
  void destroy_completed() {
    std::vector<Entry> completed;
    std::lock_guard lock(mutex_);
    auto running = std::partition(all_.begin(), all_.end(), [](auto& entry) {
      return !std::all_of(entry.ends.begin(), entry.ends.end(), [](auto& end) { return end.query(); });
    });
    std::move(running, all_.end(), std::back_inserter(completed));
    all_.erase(running, all_.end());
  }

 private:
  struct Entry {
    std::vector<Event> ends;
    std::optional<Executable> executable, timed;
  };
  std::mutex mutex_;
  std::vector<Entry> all_;
};

}  // namespace

Graph::Graph() : state_(std::make_unique<State>()) {}
Graph::~Graph() {
  drop();
}

void Graph::drop() noexcept {
  if (startup::is_forked_or_shut_down()) {
    static_cast<void>(state_.release());  // destroying it could block on a lock of a lost thread
    return;
  }
  try {
    RetiredGraphs::instance().destroy_completed();
    if (state_->executable && !state_->replay_streams.empty()) RetiredGraphs::instance().add(*state_);
  } catch (const std::exception& e) {
    log(LogLevel::error, join("destroying a graph: ", e.what()));
  }
  state_.reset();
}

void Graph::begin(Stream stream, memory::PoolId pool) {
  startup::require_thread_allowed();
  static auto& mutex = immortal<std::mutex>();  // two captures of one stream must not both find it free
  std::lock_guard lock(mutex);
  expect<UsageError>(!state_->capture, "the graph already holds a capture; call reset() first");
  expect<UsageError>(!is_capturing(stream), "stream ", stream.id(),
                     " is already being captured into another graph");
  auto fresh = std::make_unique<State>();
  fresh->stream = stream;
  try {
    fresh->start(pool);
  } catch (...) {
    if (fresh->pool_opened) memory::close_pool(stream, fresh->pool);
    throw;
  }
  state_ = std::move(fresh);
}

void Graph::end() {
  startup::require_thread_allowed();
  expect<UsageError>(state_->capture && !state_->ended, "the graph captures no stream; call begin() first");
  auto& state = *state_;
  try {
    translate_sycl_errors("finishing a graph", [&] {
      state.stop();
      bool native = state.capture->is_native() && !state.capture->holds_host_tasks();
      // The host enqueues kernels on the native queue one by one faster than SYCL replays its graph. Work of
      // other streams that SYCL took in is in its graph only.
      if (native && state.stream.state()->queue().native &&
          state.modifiable->get_nodes().size() == state.capture->size())
        native = false;
      if (native) {
        graph::InstantiationLock alone;
        state.executable.emplace(state.modifiable->finalize());
      } else {
        state.modifiable.reset();
      }
      state.capture->select_mode(native);
    });
  } catch (...) {
    state.ended = true;  // the streams are free again, and the captured work is lost
    state_ = std::make_unique<State>();
    throw;
  }
  state.ended = true;
}

void Graph::replay(Stream stream) {
  expect<UsageError>(state_->ended, "the graph has nothing to replay: call begin() and end() first");
  expect<UsageError>(stream.device() == state_->stream.device(), "the graph was captured on device ",
                     state_->stream.device(), " and cannot be replayed on device ", stream.device());
  auto& state = *state_;
  Executable* timed = nullptr;
  {
    std::lock_guard lock(state.replay_mutex);
    auto& known = state.replay_streams;
    if (std::find(known.begin(), known.end(), stream) == known.end()) known.push_back(stream);
    if (state.capture->is_native() && trace::active() && !state.timed) {
      graph::InstantiationLock alone;
      translate_sycl_errors("instantiating a graph with device times", [&] {
        state.timed.emplace(state.modifiable->finalize({ext::property::graph::enable_profiling()}));
      });
    }
    if (state.timed) timed = &*state.timed;
  }
  state.capture->random_state().store(stream);
  if (state.capture->is_native()) {
    auto run = [&](sycl::queue& queue, sycl::event* event) {
      std::optional<StartBarrier> barrier;
      if (!stream.state()->capturing) barrier.emplace(stream);
      if (event && timed) {
        *event = queue.ext_oneapi_graph(*timed);
        return;
      }
      ext::execute_graph(queue, *state.executable);
      if (event) *event = queue.ext_oneapi_submit_barrier();  // the trace has begun since the replay has
    };
    return enqueue(stream, {WorkKind::graph, "graph replay"}, run);
  }
  auto& all = state.capture->work();
  auto enqueue_one = [&](const CapturedWork& work) {
    enqueue(stream, {work.kind, work.name, work.bytes}, work.function.view());
  };
  if (is_capturing(stream) || strict::enabled() ||
      trace::active()) {  // each submission is captured, waited for or timed
    std::for_each(all.begin(), all.end(), enqueue_one);
    return;
  }
  constexpr std::size_t batch = 32;  // the device runs one while the host enqueues the next
  for (std::size_t at = 0; at < all.size(); at += batch) {
    {
      StartBarrier barrier(stream);
      std::for_each(all.begin() + at, all.begin() + std::min(at + batch, all.size()), enqueue_one);
    }
    count_and_throttle(*stream.state());
  }
}

void Graph::reset() {
  expect<UsageError>(!state_->stream || !is_capturing(state_->stream),
                     "the graph still captures a stream; call end() before reset()");
  drop();
  state_ = std::make_unique<State>();
}

bool Graph::captured() const {
  return state_->ended;
}
std::size_t Graph::size() const {
  return state_->capture ? state_->capture->size() : 0;
}
const char* Graph::mode() const {
  if (!state_->ended) return "";
  return state_->capture->is_native() ? "native" : "list";
}

bool is_capturing(Stream stream) {
  return stream.state()->capturing.load();
}

}  // namespace xpu

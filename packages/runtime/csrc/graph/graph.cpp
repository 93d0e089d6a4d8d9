#include "xpu/graph.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <sycl/ext/oneapi/experimental/graph.hpp>
#include <sycl/sycl.hpp>

#include "env.h"
#include "graph/gate.h"
#include "graph/instantiation.h"
#include "graph/recording.h"
#include "kept.h"
#include "memory/strict/strict.h"
#include "startup.h"
#include "stream_state.h"
#include "sycl_error.h"
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
  std::shared_ptr<Recording> recording;
  std::optional<Modifiable> modifiable;
  std::optional<Executable> executable, timed;  // timed: for replays under a trace
  bool ended = false;
  // What is allocated on the stream while it is recorded comes from here, where nobody else gets it after: a
  // pool of this graph's or one that served the stream already.
  memory::PoolId pool = 0;
  bool serves = false;  ///< the graph opened the pool for the stream
  std::mutex replaying;
  std::vector<Stream> replayed;  ///< where work of the graph may still run

  ~State() {
    std::vector<Stream> users = recording ? recording->joined() : std::vector<Stream>();
    users.push_back(stream);
    if (recording && !ended) abandon();
    for (Stream user : users)
      for (Stream replay : replayed)
        if (user != replay) wait_for(user, replay);
    recording.reset();
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
      serves = true;
    }
    auto made = std::make_shared<Recording>(use_native(device), device_info(device).type == "cpu");
    made->draws().reserve(stream);
    std::lock_guard order(state.order);
    if (made->native()) {
      guarded("starting to record a graph", [&] {
        modifiable.emplace(sycl_context(device), sycl_device(device));
        modifiable->begin_recording(state.queue().sycl);
      });
    }
    recording = std::move(made);
    state.recording = recording;
    state.capturing = true;
  }

  /// The streams run again what is queued on them.
  void stop() {
    auto leave = [this](sycl::queue& queue) {
      if (modifiable) modifiable->end_recording(queue);
    };
    recording->release(leave);
    {
      auto& state = *stream.state();
      std::lock_guard order(state.order);
      leave(state.queue().sycl);
      state.recording = nullptr;
      state.capturing = false;
    }
    if (modifiable) modifiable->end_recording();  // of streams that SYCL itself took in
    if (std::exchange(serves, false)) memory::close_pool(stream, pool);
    set_profiling(*stream.state(), trace::active());
  }

  void abandon() noexcept {
    try {
      stop();
    } catch (const std::exception& e) {
      log(LogLevel::error, join("ending a recording that is dropped: ", e.what()));
    }
  }

  // What streams get of the pool from now on must not be what a replay still uses.
  static void wait_for(Stream user, Stream replay) noexcept {
    try {
      if (is_capturing(user)) return finish(*replay.state());
      Event end;
      end.record(replay);
      enqueue_wait(user, end);
    } catch (const std::exception& e) {
      log(LogLevel::error, join("waiting for the replays of a graph that is dropped: ", e.what()));
    }
  }
};

namespace {

/// What SYCL replays must not be taken down while it runs: it waits here until then.
class Retired {
 public:
  static Retired& graphs() {
    static auto& one = kept<Retired>();
    return one;
  }

  template <class State>
  void add(State& state) {
    std::vector<Event> ends;
    for (Stream stream : state.replayed)
      if (!is_capturing(stream)) ends.emplace_back().record(stream);
    std::lock_guard lock(mutex_);
    all_.push_back({std::move(ends), std::move(state.executable), std::move(state.timed)});
  }
  void drop_ended() {
    std::vector<Entry> ended;
    std::lock_guard lock(mutex_);
    auto running = std::partition(all_.begin(), all_.end(), [](auto& entry) {
      return !std::all_of(entry.ends.begin(), entry.ends.end(), [](auto& end) { return end.query(); });
    });
    std::move(running, all_.end(), std::back_inserter(ended));
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
  if (startup::unusable()) {
    static_cast<void>(state_.release());  // it goes with the process
    return;
  }
  try {
    Retired::graphs().drop_ended();
    if (state_->executable && !state_->replayed.empty()) Retired::graphs().add(*state_);
  } catch (const std::exception& e) {
    log(LogLevel::error, join("dropping a graph: ", e.what()));
  }
  state_.reset();
}

void Graph::begin(Stream stream, memory::PoolId pool) {
  startup::require_thread();
  static auto& one_at_a_time = kept<std::mutex>();  // two captures of one stream must not both find it free
  std::lock_guard lock(one_at_a_time);
  expect<UsageError>(!state_->recording, "the graph already holds a recording; reset() it first");
  expect<UsageError>(!is_capturing(stream), "stream ", stream.id(),
                     " is already being recorded into another graph");
  auto fresh = std::make_unique<State>();
  fresh->stream = stream;
  try {
    fresh->start(pool);
  } catch (...) {
    if (fresh->serves) memory::close_pool(stream, fresh->pool);
    throw;
  }
  state_ = std::move(fresh);
}

void Graph::end() {
  startup::require_thread();
  expect<UsageError>(state_->recording && !state_->ended, "the graph is not being recorded; begin() first");
  auto& state = *state_;
  try {
    guarded("finishing a graph", [&] {
      state.stop();
      bool native = state.recording->native() && !state.recording->holds_host_tasks();
      // Kernels that go below SYCL are queued sooner one by one than by SYCL's graph. Streams that waited
      // have theirs in the graph alone.
      if (native && state.stream.state()->direct() &&
          state.modifiable->get_nodes().size() == state.recording->size())
        native = false;
      if (native) {
        graph::InstantiationLock alone;
        state.executable.emplace(state.modifiable->finalize());
      } else {
        state.modifiable.reset();
      }
      state.recording->keep(native);
    });
  } catch (...) {
    state.ended = true;  // the streams are free again; what was recorded is lost
    state_ = std::make_unique<State>();
    throw;
  }
  state.ended = true;
}

void Graph::replay(Stream stream) {
  expect<UsageError>(state_->ended, "the graph holds no finished recording to replay");
  expect<UsageError>(stream.device() == state_->stream.device(), "the graph was recorded on device ",
                     state_->stream.device(), " and cannot be replayed on device ", stream.device());
  auto& state = *state_;
  Executable* timed = nullptr;
  {
    std::lock_guard lock(state.replaying);
    auto& known = state.replayed;
    if (std::find(known.begin(), known.end(), stream) == known.end()) known.push_back(stream);
    if (state.recording->native() && trace::active() && !state.timed) {
      graph::InstantiationLock alone;
      guarded("instantiating a graph that takes times", [&] {
        state.timed.emplace(state.modifiable->finalize({ext::property::graph::enable_profiling()}));
      });
    }
    if (state.timed) timed = &*state.timed;
  }
  state.recording->draws().store(stream);
  if (state.recording->native()) {
    auto run = [&](sycl::queue& queue, sycl::event* event) {
      std::optional<Gate> gate;
      if (!stream.state()->capturing) gate.emplace(stream);
      if (event && timed) {
        *event = queue.ext_oneapi_graph(*timed);
        return;
      }
      ext::execute_graph(queue, *state.executable);
      if (event) *event = queue.ext_oneapi_submit_barrier();  // the trace has begun since the replay has
    };
    return enqueue(stream, {WorkKind::graph, "graph replay"}, run);
  }
  auto& all = state.recording->work();
  auto submit = [&](const RecordedWork& work) {
    enqueue(stream, {work.kind, work.name, work.bytes}, work.submit.view());
  };
  if (is_capturing(stream) || strict::enabled() ||
      trace::active()) {  // each piece is recorded, awaited or timed
    std::for_each(all.begin(), all.end(), submit);
    return;
  }
  constexpr std::size_t part = 32;  // the device works on one while the host queues the next
  for (std::size_t at = 0; at < all.size(); at += part) {
    {
      Gate gate(stream);
      std::for_each(all.begin() + at, all.begin() + std::min(at + part, all.size()), submit);
    }
    count_work(*stream.state());
  }
}

void Graph::reset() {
  expect<UsageError>(!state_->stream || !is_capturing(state_->stream), "end() the recording before reset()");
  drop();
  state_ = std::make_unique<State>();
}

bool Graph::recorded() const {
  return state_->ended;
}
std::size_t Graph::size() const {
  return state_->recording ? state_->recording->size() : 0;
}
const char* Graph::mode() const {
  if (!state_->ended) return "";
  return state_->recording->native() ? "native" : "list";
}

bool is_capturing(Stream stream) {
  return stream.state()->capturing.load();
}

}  // namespace xpu

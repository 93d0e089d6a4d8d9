#include "xpu/graph.h"

#include <algorithm>
#include <sycl/ext/oneapi/experimental/graph.hpp>
#include <sycl/sycl.hpp>

#include "env.h"
#include "graph/gate.h"
#include "graph/recording.h"
#include "memory/strict.h"
#include "stream_state.h"
#include "sycl_error.h"
#include "trace/recorder.h"
#include "xpu/device.h"
#include "xpu/error.h"
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

void Recording::release() {
  for (auto& [stream, pool] : joined_) {
    stream.state()->recording = nullptr;
    if (!pool) continue;
    memory::close_pool(stream, pool);
    memory::release_pool(stream.device(), pool);
  }
  joined_.clear();
}

struct Graph::State {
  Stream stream;
  std::unique_ptr<Recording> recording;
  std::optional<Modifiable> modifiable;
  std::optional<Executable> executable, timed;  // timed: for replays under a trace
  bool ended = false;
  // What is allocated on the stream while it is recorded comes from here, where nobody else gets it after.
  memory::PoolId pool = 0;

  ~State() {
    recording.reset();
    if (pool) memory::release_pool(stream.device(), pool);
  }
};

Graph::Graph() : state_(std::make_unique<State>()) {}
Graph::~Graph() {
  if (!state_->stream || !is_capturing(state_->stream)) return;
  state_->stream.state()->recording = nullptr;
  if (state_->pool) memory::close_pool(state_->stream, state_->pool);
}

void Graph::begin(Stream stream) {
  expect<UsageError>(!state_->recording, "the graph already holds a recording; reset() it first");
  expect<UsageError>(!is_capturing(stream), "stream ", stream.id(),
                     " is already being recorded into another graph");
  int device = stream.device();
  state_->stream = stream;
  state_->recording = std::make_unique<Recording>(use_native(device), device_info(device).type == "cpu");
  if (state_->recording->native()) {
    guarded("starting to record a graph", [&] {
      state_->modifiable.emplace(sycl_context(device), sycl_device(device));
      state_->modifiable->begin_recording(stream.state()->queue);
    });
  }
  if (stream.state()->pool.load() == 0) {
    state_->pool = memory::create_pool();
    memory::open_pool(stream, state_->pool);
  }
  state_->recording->draws().reserve(stream);
  stream.state()->recording = state_->recording.get();
}

void Graph::end() {
  expect<UsageError>(state_->recording && !state_->ended, "the graph is not being recorded; begin() first");
  state_->recording->release();
  state_->stream.state()->recording = nullptr;
  if (state_->pool) memory::close_pool(state_->stream, state_->pool);
  state_->ended = true;
  if (!state_->recording->native()) return;
  bool native = !state_->recording->holds_host_tasks();
  guarded("finishing a graph", [&] {
    state_->modifiable->end_recording();  // also of streams that waited for this one
    // Kernels that go below SYCL are queued sooner one by one than by SYCL's graph. Streams that waited have
    // theirs in the graph alone.
    bool all_here = state_->modifiable->get_nodes().size() == state_->recording->size();
    if (state_->stream.state()->direct() && all_here) native = false;
    if (native) state_->executable.emplace(state_->modifiable->finalize());
  });
  if (!native) state_->modifiable.reset();
  state_->recording->keep(native);
}

void Graph::replay(Stream stream) {
  expect<UsageError>(state_->ended, "the graph holds no finished recording to replay");
  expect<UsageError>(stream.device() == state_->stream.device(), "the graph was recorded on device ",
                     state_->stream.device(), " and cannot be replayed on device ", stream.device());
  state_->recording->draws().store(stream);
  if (state_->recording->native()) {
    auto run = [&](sycl::queue& queue, sycl::event* event) {
      std::optional<Gate> gate;
      if (!is_capturing(stream)) gate.emplace(stream);
      if (!event) return ext::execute_graph(queue, *state_->executable);
      if (!state_->timed)
        state_->timed.emplace(state_->modifiable->finalize({ext::property::graph::enable_profiling()}));
      *event = queue.ext_oneapi_graph(*state_->timed);
    };
    return enqueue(stream, {WorkKind::graph, "graph replay"}, run);
  }
  auto& all = state_->recording->work();
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
  return stream.state()->recording.load() != nullptr;
}

}  // namespace xpu

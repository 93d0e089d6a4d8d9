#include "distributed/group.h"

#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <sstream>
#include <thread>
#include <utility>

#include "device/errors.h"
#include "device/streams.h"
#include "distributed/flight_record.h"
#include "xpu/event.h"
#include "xpu/graph.h"

namespace torch_xpu::distributed {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::int64_t elapsed_ms(Clock::time_point since) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - since).count();
}

std::string message_of(std::exception_ptr error) {
  try {
    std::rethrow_exception(error);
  } catch (const c10::Error& e) {
    return e.what_without_backtrace();
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "unknown error";
  }
}

std::exception_ptr backend_error(const std::string& text) {
  return std::make_exception_ptr(c10::DistBackendError({"", "", 0}, text));
}

struct AllGroups {
  std::mutex mutex;
  std::vector<std::weak_ptr<Group>> groups;
};

AllGroups& all_groups() {
  static auto& instance = *new AllGroups;  // groups may be made and end during shutdown
  return instance;
}

/// Makes the lane's stream PyTorch's current one on the calling thread.
class CurrentStream {
 public:
  explicit CurrentStream(xpu::Stream stream)
      : guard_(c10::DeviceType::XPU),
        device_(guard_.exchangeDevice(
            c10::Device(c10::DeviceType::XPU, static_cast<c10::DeviceIndex>(stream.device())))),
        stream_(xpu::exchange_stream(stream)) {}
  ~CurrentStream() {
    xpu::exchange_stream(stream_);
    guard_.setDevice(device_);
  }
  CurrentStream(const CurrentStream&) = delete;
  CurrentStream& operator=(const CurrentStream&) = delete;

 private:
  c10::impl::VirtualGuardImpl guard_;
  c10::Device device_;
  xpu::Stream stream_;
};

void append_tensors(std::ostringstream& text, const char* name, const Tensors& tensors) {
  if (tensors.empty()) return;
  text << name << ' ';
  constexpr std::size_t max_shown = 4;
  for (std::size_t i = 0; i < std::min(tensors.size(), max_shown); ++i)
    text << (i ? ", " : "") << tensors[i].scalar_type() << ' ' << tensors[i].sizes();
  if (tensors.size() > max_shown) text << " and " << tensors.size() - max_shown << " more";
}

}  // namespace

struct Group::Pending {
  Call call;
  std::vector<Steps> pieces;
  std::uint64_t number;
  milliseconds timeout;
  xpu::Event before;  ///< the work that was pending on the caller's stream
  c10::intrusive_ptr<StagedWork> work;
  std::vector<std::vector<c10::intrusive_ptr<c10d::Work>>> transport_works;  ///< of each piece
  Clock::time_point begin = Clock::now();
};

Group::Group(c10::intrusive_ptr<c10d::Store> store, int rank, int size, std::string backend,
             c10::intrusive_ptr<c10d::Backend> transport, milliseconds timeout)
    : rank(rank),
      size(size),
      store_(std::move(store)),
      backend_(std::move(backend)),
      transport_(std::move(transport)),
      timeout_(timeout),
      global_rank_(rank),
      process_(getpid()) {}

std::shared_ptr<Group> Group::make(c10::intrusive_ptr<c10d::Store> store, int rank, int size,
                                   std::string backend, c10::intrusive_ptr<c10d::Backend> transport,
                                   milliseconds timeout) {
  auto group = std::make_shared<Group>(std::move(store), rank, size, std::move(backend), std::move(transport),
                                       timeout);
  std::lock_guard lock(all_groups().mutex);
  std::erase_if(all_groups().groups, [](auto& other) { return other.expired(); });
  all_groups().groups.push_back(group);
  return group;
}

void end_groups_within(milliseconds timeout) {
  keep_dropped_objects();
  auto deadline = Clock::now() + timeout;
  std::vector<std::weak_ptr<Group>> groups;
  {
    std::lock_guard lock(all_groups().mutex);
    groups = all_groups().groups;
  }
  for (auto& known : groups)
    if (auto group = known.lock())
      group->end_within(
          std::max(std::chrono::duration_cast<milliseconds>(deadline - Clock::now()), milliseconds(0)));
}

std::string Group::describe(const Call& call, std::uint64_t number) const {
  std::ostringstream text;
  text << "rank " << rank << " of " << size;
  if (!label_.empty()) text << ", group \"" << label_ << "\"";
  text << ": " << backend_ << " " << call.name << " number " << number;
  if (call.peer >= 0) text << " with rank " << call.peer;
  if (!call.inputs.empty() || !call.outputs.empty()) text << " (";
  append_tensors(text, "input", call.inputs);
  if (!call.inputs.empty() && !call.outputs.empty()) text << "; ";
  append_tensors(text, "output", call.outputs);
  if (!call.inputs.empty() || !call.outputs.empty()) text << ")";
  return text.str();
}

Lane& Group::lane(bool point_to_point) {
  auto& lane = point_to_point ? transfer_lane_ : collective_lane_;
  if (!lane) lane = std::make_unique<Lane>();
  return *lane;
}

c10::intrusive_ptr<c10d::Work> Group::enqueue(Call call, std::vector<Steps> pieces) {
  TORCH_CHECK(getpid() == process_, backend_, " ", call.name,
              ": the process was forked after the group was made; make a group in the child, before it uses "
              "the device");
  auto pending = std::make_shared<Pending>();
  int device = call.device.index();
  translate_errors([&] {
    auto stream = xpu::current_stream(device);
    TORCH_CHECK(!xpu::is_capturing(stream), backend_, " ", call.name,
                ": a graph captures the current stream, and collectives through the host cannot be captured");
    pending->before.record(stream);
  });
  std::lock_guard lock(mutex_);
  if (!failure_.empty())
    std::rethrow_exception(
        backend_error(c10::str(backend_, " ", call.name, ": the group cannot be used any more: ", failure_)));
  bool transfer = call.is_point_to_point();
  pending->number = transfer ? ++transfers_ : ++collectives_;
  pending->timeout = call.timeout == c10d::kUnsetTimeout ? timeout_ : call.timeout;
  pending->work = c10::make_intrusive<StagedWork>(rank, call.type, backend_ + ":" + call.name,
                                                  describe(call, pending->number), pending->number,
                                                  call.device, call.inputs, call.outputs);
  pending->call = std::move(call);
  pending->pieces = std::move(pieces);
  pending_.insert(pending);
  auto work = pending->work;
  if (coalesced_) coalesced_->push_back(work);
  lane(transfer).enqueue([group = shared_from_this(), pending = std::move(pending), transfer]() mutable {
    group->run(std::move(pending), transfer);
    drop_in_background(std::move(group));
  });
  return work;
}

void Group::run(std::shared_ptr<Pending> pending, bool posts_only) {
  try {
    {
      std::lock_guard lock(mutex_);
      if (!failure_.empty()) std::rethrow_exception(backend_error(failure_));
    }
    LaneStream lane(pending->call.device.index());
    CurrentStream current(lane.stream);
    start(*pending, lane.stream);
    if (!posts_only) {
      finish(*pending, lane.stream);
      complete(*pending, nullptr);
    }
  } catch (...) {
    fail(*pending, std::current_exception());
    posts_only = false;
  }
  if (!posts_only) return drop_in_background(std::move(pending));
  run_on_pool([group = shared_from_this(), pending = std::move(pending)]() mutable {
    group->finish_posted(std::move(pending));
    drop_in_background(std::move(group));
  });
}

// Sends and receives are waited for elsewhere, so that later ones start meanwhile.
void Group::finish_posted(std::shared_ptr<Pending> pending) {
  try {
    LaneStream lane(pending->call.device.index());
    CurrentStream current(lane.stream);
    finish(*pending, lane.stream);
    complete(*pending, nullptr);
  } catch (...) {
    fail(*pending, std::current_exception());
  }
  drop_in_background(std::move(pending));
}

void Group::start(Pending& pending, xpu::Stream stream) {
  std::vector<xpu::Event> copied(pending.pieces.size());
  if (pending.pieces.front().to_host) {
    stream.wait(pending.before);
    for (std::size_t i = 0; i < copied.size(); ++i) {
      pending.pieces[i].to_host(stream);
      copied[i].record(stream);
    }
  }
  for (std::size_t i = 0; i < copied.size(); ++i) {
    copied[i].synchronize();
    std::lock_guard lock(transport_mutex_);
    pending.transport_works.push_back(pending.pieces[i].start(*transport_, pending.timeout));
  }
}

void Group::finish(Pending& pending, xpu::Stream stream) {
  for (std::size_t i = 0; i < pending.pieces.size(); ++i) {
    for (auto& work : pending.transport_works[i]) {
      work->wait(pending.timeout);
      if (pending.call.type == c10d::OpType::RECVANYSOURCE) pending.work->set_source_rank(work->sourceRank());
    }
    auto& piece = pending.pieces[i];
    if (!piece.from_host || pending.work->isCompleted()) continue;
    // An output may be in use until then; collectives with inputs have waited already.
    if (i == 0 && !piece.to_host) stream.wait(pending.before);
    piece.from_host(stream);
  }
  stream.synchronize();
}

// Every rank whose collective fails says so in the store; one that does not never came, or came much later.
std::string Group::missing_ranks(std::uint64_t number) {
  auto key = [number](int of) { return c10::str("xpu/failed/", number, "/", of); };
  auto ask = [store = store_, key, own = rank, size = size] {
    store->set(key(own), std::vector<std::uint8_t>{1});
    // The transport tells the others within this time that this rank has failed.
    std::this_thread::sleep_for(milliseconds(500));
    std::vector<int> missing;
    for (int other = 0; other < size; ++other)
      if (!store->check({key(other)})) missing.push_back(other);
    return missing;
  };
  // The store may be on a rank that has ended or hangs.
  auto answer = std::make_shared<std::promise<std::vector<int>>>();
  auto future = answer->get_future();
  run_on_pool([answer, ask] {
    try {
      answer->set_value(ask());
    } catch (...) {
      answer->set_exception(std::current_exception());
    }
  });
  try {
    if (future.wait_for(milliseconds(900)) == std::future_status::ready) {
      auto missing = future.get();
      if (missing.empty()) return "; all ranks came, at different times or with different sizes";
      return c10::str("; these ranks did not come in time: ", c10::Join(", ", missing));
    }
  } catch (const std::exception&) {
    // The message says it.
  }
  return "; the store that tells which ranks came does not answer: the rank that holds it ended or hangs";
}

std::string Group::others_pending(const Pending& pending) {
  constexpr std::size_t max_shown = 4;
  std::vector<const Pending*> others;
  std::lock_guard lock(mutex_);
  for (auto& other : pending_)
    if (other.get() != &pending) others.push_back(other.get());
  std::sort(others.begin(), others.end(), [](auto* a, auto* b) { return a->begin < b->begin; });
  std::ostringstream text;
  for (std::size_t i = 0; i < std::min(others.size(), max_shown); ++i)
    text << (i ? ", " : "; also pending: ") << others[i]->call.name << " number " << others[i]->number;
  if (others.size() > max_shown) text << " and " << others.size() - max_shown << " more";
  return text.str();
}

void Group::fail(Pending& pending, std::exception_ptr error) {
  bool is_late = Clock::now() - pending.begin >= pending.timeout;
  auto text = c10::str(pending.work->description(), is_late ? " timed out after " : " failed after ",
                       elapsed_ms(pending.begin), " ms");
  auto reason = message_of(error);
  std::string earlier;
  {
    std::lock_guard lock(mutex_);
    earlier = failure_;
    timed_out_ = timed_out_ || is_late;
  }
  if (!earlier.empty()) {
    text = earlier;
  } else {
    if (!pending.call.is_point_to_point()) {
      auto missing = missing_ranks(pending.number);
      if (is_late) text += missing;
    }
    text += others_pending(pending) + ". " + reason;
    if (auto file = write_flight_record(global_rank_); !file.empty())
      text += c10::str(". The collectives that this rank has started are in ", file);
    std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = text;
  }
  complete(pending, backend_error(text));
}

void Group::complete(const Pending& pending, std::exception_ptr error) {
  pending.work->complete(error);
  std::lock_guard lock(mutex_);
  std::erase_if(pending_, [&](auto& other) { return other.get() == &pending; });
  changed_.notify_all();
}

void Group::start_coalescing() {
  std::lock_guard lock(mutex_);
  coalesced_.emplace();
}

c10::intrusive_ptr<c10d::Work> Group::end_coalescing() {
  std::lock_guard lock(mutex_);
  auto parts = std::exchange(coalesced_, std::nullopt);
  if (!parts || parts->empty()) return nullptr;
  return c10::make_intrusive<CoalescedWork>(rank, std::move(*parts));
}

void Group::set_timeout(milliseconds timeout) {
  std::lock_guard lock(mutex_);
  timeout_ = timeout;
}

void Group::set_label(std::string label, int global_rank) {
  std::lock_guard lock(mutex_);
  label_ = std::move(label);
  global_rank_ = global_rank;
}

std::uint64_t Group::sequence_number() const {
  std::lock_guard lock(mutex_);
  return collectives_;
}

c10d::ErrorType Group::error() const {
  std::lock_guard lock(mutex_);
  if (failure_.empty()) return c10d::ErrorType::SUCCESS;
  return timed_out_ ? c10d::ErrorType::TIMEOUT : c10d::ErrorType::COMM_ERROR;
}

void Group::abort() {
  abort(true);
}

void Group::abort(bool reports_to_device) {
  if (getpid() != process_) return;
  std::unordered_set<std::shared_ptr<Pending>> all;
  {
    std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = c10::str("rank ", rank, " aborted the group");
    all.swap(pending_);
    collective_lane_.reset();
    transfer_lane_.reset();
    changed_.notify_all();
  }
  // A thread may wait in the transport, and holds what it uses until that returns.
  for (auto& pending : all) pending->work->abort(reports_to_device);
  transport_->abort();
}

void Group::close() {
  if (getpid() != process_) return;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return pending_.empty(); });
  }
  abort();
}

void Group::end_within(milliseconds timeout) {
  if (getpid() != process_) return;
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [this] { return pending_.empty(); });
  }
  abort(false);
}

}  // namespace torch_xpu::distributed

#include "distributed/group.h"

#include <ATen/MemoryOverlap.h>
#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "device/errors.h"
#include "device/streams.h"
#include "distributed/pending.h"
#include "xpu/graph.h"

namespace torch_xpu::distributed {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct AllGroups {
  std::mutex mutex;
  std::vector<std::weak_ptr<Group>> groups;
};

AllGroups& all_groups() {
  static auto& instance = *new AllGroups;  // groups may be made and end during shutdown
  return instance;
}

}  // namespace

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

Lane& Group::lane(bool point_to_point) {
  auto& lane = point_to_point ? transfer_lane_ : collective_lane_;
  if (!lane) lane = std::make_unique<Lane>();
  return *lane;
}

c10::intrusive_ptr<c10d::Work> Group::enqueue(Call call, std::vector<Steps> pieces) {
  TORCH_CHECK(getpid() == process_, backend_, " ", call.name,
              ": the process was forked after the group was made; make a group in the child, before it uses "
              "the device");
  // Later this would be an error of the group.
  for (auto& output : call.outputs) at::assert_no_internal_overlap(output);
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
  // Profiles show the sizes of what arrives, too, as PyTorch's own backends do.
  const auto& shown = call.inputs.empty() ? call.outputs : call.inputs;
  pending->work = c10::make_intrusive<StagedWork>(rank, call.type, backend_ + ":" + call.name,
                                                  describe(call, pending->number), pending->number,
                                                  call.device, shown, call.outputs);
  pending->call = std::move(call);
  pending->pieces = std::move(pieces);
  pending_.insert(pending);
  auto work = pending->work;
  work->end_recording();
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
    if (i == 0) pending.span.emplace(c10::str(backend_, ":", pending.call.name));
    pending.transport_works.push_back(pending.pieces[i].start(*transport_, pending.timeout));
  }
}

void Group::finish(Pending& pending, xpu::Stream stream) {
  for (std::size_t i = 0; i < pending.pieces.size(); ++i) {
    for (auto& work : pending.transport_works[i]) {
      work->wait(pending.timeout);
      if (pending.call.type == c10d::OpType::RECVANYSOURCE) pending.work->set_source_rank(work->sourceRank());
    }
    if (i + 1 == pending.pieces.size()) pending.span.reset();
    auto& piece = pending.pieces[i];
    if (!piece.from_host || pending.work->isCompleted()) continue;
    // An output may be in use until then; collectives with inputs have waited already.
    if (i == 0 && !piece.to_host) stream.wait(pending.before);
    piece.from_host(stream);
  }
  stream.synchronize();
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
  self_transfers_.abort();
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

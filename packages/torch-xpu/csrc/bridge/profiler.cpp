#include "bridge/profiler.h"

// Kineto's headers format with it; no library of the wheel exports it.
#define FMT_HEADER_ONLY
#include <c10/util/Exception.h>
#include <kineto/libkineto.h>
#include <kineto/output_base.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <memory>

#include "bridge/profiler_ops.h"
#include "bridge/runtime.h"

namespace torch_xpu {
namespace {

using libkineto::ActivityType;

const std::set<ActivityType> activities{ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY,
                                        ActivityType::GPU_MEMSET, ActivityType::XPU_RUNTIME};

ActivityType activity_of(TracedWork::Kind kind) {
  switch (kind) {
    case TracedWork::Kind::copy:
      return ActivityType::GPU_MEMCPY;
    case TracedWork::Kind::fill:
      return ActivityType::GPU_MEMSET;
    case TracedWork::Kind::kernel:
      break;
  }
  return ActivityType::CONCURRENT_KERNEL;
}

// The profiler counts from the epoch, the runtime from the machine's start.
std::int64_t epoch_less_steady() {
  auto epoch = std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  return epoch - steady_ns();
}

class Session;
std::atomic<Session*> recording{nullptr};

/// One profile.
class Session final : public libkineto::IActivityProfilerSession {
 public:
  ~Session() override { forget(); }

  void start() override {
    began_ = steady_ns();
    status_ = libkineto::TraceStatus::RECORDING;
    recording = this;
    // A program that has not used the device must not load it for being profiled.
    if (runtime_if_loaded()) trace();
  }
  void trace() {
    attempt([&] {
      runtime().start_trace();
      tracing_ = true;
    });
  }
  void stop() override {
    forget();
    ended_ = steady_ns();
    status_ = libkineto::TraceStatus::PROCESSING;
    if (!tracing_) return;
    tracing_ = false;
    attempt([&] { work_ = runtime().stop_trace(); });
  }
  std::vector<std::string> errors() override { return errors_; }

  void processTrace(libkineto::ActivityLogger& logger) override {
    processTrace(
        logger, [](std::int32_t) { return nullptr; }, 0, 0);
  }
  void processTrace(libkineto::ActivityLogger& logger, libkineto::getLinkedActivityCallback op_of,
                    std::int64_t, std::int64_t) override {
    gap_ = epoch_less_steady();
    buffer_->span = libkineto::TraceSpan(began_ + gap_, ended_ + gap_, "xpu");
    buffer_->gpuOpCount = static_cast<int>(work_.size());
    RunningOps::Finder ops(ops_);
    for (auto& work : work_) {
      auto* op = op_of(static_cast<std::int32_t>(ops.at(work.thread, work.host_begin)));
      host_side(work, op).log(logger);
      if (work.device_end) device_side(work, op).log(logger);
    }
  }

  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override { return nullptr; }
  std::vector<libkineto::ResourceInfo> getResourceInfos() override {
    std::map<std::pair<int, std::int64_t>, bool> streams;
    for (auto& work : work_) streams[{work.device, work.stream}] = true;
    std::vector<libkineto::ResourceInfo> out;
    for (auto& [at, _] : streams)
      out.push_back({at.second, at.second, at.first, "stream " + std::to_string(at.second)});
    return out;
  }
  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override { return std::move(buffer_); }

  void pushCorrelationId(std::uint64_t op) override { ops_.begin(op); }
  void popCorrelationId() override { ops_.end(); }

 private:
  // A profile goes on without the device, and says why.
  template <class F>
  void attempt(F&& work) {
    try {
      work();
    } catch (const c10::Error& why) {
      errors_.push_back(why.what_without_backtrace());
      TORCH_WARN("torch.profiler records no xpu events: ", why.what_without_backtrace());
    }
  }
  void forget() {
    auto* self = this;
    recording.compare_exchange_strong(self, nullptr);
  }

  libkineto::GenericTraceActivity& add(ActivityType type, const std::string& name, const TracedWork& work,
                                       const libkineto::ITraceActivity* op, bool start) {
    buffer_->emplace_activity(buffer_->span, type, name);
    auto& activity = *buffer_->activities.back();
    activity.id = static_cast<std::int32_t>(work.correlation);
    activity.linked = op;
    activity.flow.id = static_cast<std::uint32_t>(work.correlation);
    activity.flow.type = libkineto::kLinkAsyncCpuGpu;
    activity.flow.start = start;
    activity.addMetadata("correlation", work.correlation);
    return activity;
  }
  libkineto::GenericTraceActivity& host_side(const TracedWork& work, const libkineto::ITraceActivity* op) {
    auto& activity = add(ActivityType::XPU_RUNTIME, "xpu::enqueue", work, op, true);
    activity.startTime = work.host_begin + gap_;
    activity.endTime = work.host_end + gap_;
    activity.device = getpid();
    activity.resource = activity.threadId = static_cast<std::int32_t>(work.thread);
    return activity;
  }
  libkineto::GenericTraceActivity& device_side(const TracedWork& work, const libkineto::ITraceActivity* op) {
    auto& activity = add(activity_of(work.kind), work.name, work, op, false);
    activity.startTime = work.device_begin + gap_;
    activity.endTime = work.device_end + gap_;
    activity.device = work.device;
    activity.resource = static_cast<std::int32_t>(work.stream);
    activity.addMetadata("device", work.device);
    activity.addMetadata("stream", work.stream);
    if (work.bytes) activity.addMetadata("bytes", work.bytes);
    return activity;
  }

  RunningOps ops_;
  std::vector<TracedWork> work_;
  std::vector<std::string> errors_;
  std::unique_ptr<libkineto::CpuTraceBuffer> buffer_ = std::make_unique<libkineto::CpuTraceBuffer>();
  std::int64_t began_ = 0, ended_ = 0, gap_ = 0;
  bool tracing_ = false;
};

class Profiler final : public libkineto::IActivityProfiler {
 public:
  const std::string& name() const override { return name_; }
  const std::set<ActivityType>& availableActivities() const override { return activities; }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(const std::set<ActivityType>& wanted,
                                                                 const libkineto::Config&) override {
    if (!wanted.contains(ActivityType::CONCURRENT_KERNEL)) return nullptr;
    return std::make_unique<Session>();
  }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(std::int64_t, std::int64_t,
                                                                 const std::set<ActivityType>& wanted,
                                                                 const libkineto::Config& config) override {
    return configure(wanted, config);
  }

 private:
  std::string name_ = "xpu";
};

// The device becomes a source of events when this library is loaded.
[[maybe_unused]] const bool is_profiler_registered = [] {
  libkineto::api().registerProfilerFactory([] { return std::make_unique<Profiler>(); });
  return true;
}();

}  // namespace

void profile_loaded_runtime() {
  if (auto* session = recording.load()) session->trace();
}

}  // namespace torch_xpu

// The times on the device that DistributedDataParallel logs; without a timer it warns.
#include <c10/core/DeviceType.h>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>

#include <array>

#include "device/errors.h"
#include "xpu/event.h"

namespace torch_xpu::distributed {
namespace {

class XpuTimer final : public c10d::Timer {
 public:
  explicit XpuTimer(c10::Device device) : device_(device.index()) {}

  void record(Event event) override {
    Timer::record(event);
    translate_errors([&] { time_of(event).record(xpu::current_stream(device_)); });
  }

  std::optional<std::int64_t> measureDifference(Event start, Event end) override {
    auto &from = time_of(start), &to = time_of(end);
    if (!from.recorded() || !to.recorded()) return std::nullopt;
    double milliseconds = 0;
    translate_errors([&] {
      from.synchronize();
      to.synchronize();
      milliseconds = from.elapsed_ms(to);
    });
    // The end may be of the step before.
    if (milliseconds < 0) return std::nullopt;
    return static_cast<std::int64_t>(milliseconds * 1e6);
  }

 private:
  xpu::Event& time_of(Event event) { return times_[static_cast<std::size_t>(event)]; }

  const int device_;
  std::array<xpu::Event, 5> times_{xpu::Event(true), xpu::Event(true), xpu::Event(true), xpu::Event(true),
                                   xpu::Event(true)};
};

}  // namespace
}  // namespace torch_xpu::distributed

namespace c10d {
C10_REGISTER_TYPED_CLASS(TimerRegistry, c10::kXPU, torch_xpu::distributed::XpuTimer);
}

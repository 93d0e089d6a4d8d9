// Launches a kernel that the compiler generated.
#include <atomic>
#include <mutex>
#include <vector>

#include "exec/steps.h"
#include "xpu/device.h"
#include "xpu/launch.h"

namespace xla_xpu {
namespace {

class KernelStep final : public Step {
 public:
  explicit KernelStep(const PlanFields& fields)
      : source_(fields.get<std::string>("source")),
        name_(fields.get<std::string>("name")),
        range_(xpu::NdRange::linear(fields.get<std::size_t>("groups"), fields.get<std::size_t>("group"))),
        bytes_(fields.get<std::size_t>("bytes", 0)),
        arrays_(fields.ints("arguments")),
        sizes_(fields.int64s("sizes")),
        kernel_states_(static_cast<std::size_t>(xpu::device_count())) {}

  void run(Frame& frame) const override {
    xpu::Args args;
    for (int array : arrays_) args.add(frame.pointer(array, 0));
    for (auto size : sizes_) args.add(size);
    xpu::launch(frame.stream, kernel(frame.stream.device()), range_, args, bytes_);
  }

 private:
  xpu::Kernel kernel(int device) const {
    auto& cached_state = kernel_states_[static_cast<std::size_t>(device)];
    if (auto* state = cached_state.load(std::memory_order_acquire)) return xpu::Kernel(state);
    auto kernel = xpu::build_shared_kernel(device, source_, name_);
    std::lock_guard lock(mutex_);
    shared_kernels_.push_back(kernel);
    cached_state.store(kernel.get(), std::memory_order_release);
    return xpu::Kernel(kernel.get());
  }

  std::string source_, name_;
  xpu::NdRange range_;
  std::size_t bytes_;
  std::vector<int> arrays_;
  std::vector<std::int64_t> sizes_;
  mutable std::vector<std::atomic<xpu::KernelState*>> kernel_states_;  // by device
  mutable std::mutex mutex_;
  mutable std::vector<xpu::SharedKernel> shared_kernels_;
};

}  // namespace

std::unique_ptr<Step> make_kernel(const PlanFields& fields) {
  return std::make_unique<KernelStep>(fields);
}

}  // namespace xla_xpu

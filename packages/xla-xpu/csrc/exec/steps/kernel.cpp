// A kernel that the compiler wrote.
#include <atomic>
#include <mutex>
#include <vector>

#include "exec/steps.h"
#include "xpu/device.h"
#include "xpu/module.h"

namespace xla_xpu {
namespace {

class KernelStep final : public Step {
 public:
  explicit KernelStep(const Fields& fields)
      : source_(fields.get<std::string>("source")),
        name_(fields.get<std::string>("name")),
        range_(xpu::NdRange::linear(fields.get<std::size_t>("groups"), fields.get<std::size_t>("group"))),
        bytes_(fields.get<std::size_t>("bytes", 0)),
        arrays_(fields.small_numbers("arguments")),
        sizes_(fields.numbers("sizes")),
        built_(static_cast<std::size_t>(xpu::device_count())) {}

  void run(Frame& frame) const override {
    xpu::Args args;
    for (int array : arrays_) args.add(frame.pointer(array, 0));
    for (auto size : sizes_) args.add(size);
    xpu::launch(frame.stream, kernel(frame.stream.device()), range_, args, bytes_);
  }

 private:
  xpu::Kernel kernel(int device) const {
    auto& built = built_[static_cast<std::size_t>(device)];
    if (auto* state = built.load(std::memory_order_acquire)) return xpu::Kernel(state);
    auto kernel = xpu::build_shared_kernel(device, source_, name_);
    std::lock_guard lock(mutex_);
    held_.push_back(kernel);
    built.store(kernel.get(), std::memory_order_release);
    return xpu::Kernel(kernel.get());
  }

  std::string source_, name_;
  xpu::NdRange range_;
  std::size_t bytes_;
  std::vector<int> arrays_;
  std::vector<std::int64_t> sizes_;
  mutable std::vector<std::atomic<xpu::KernelState*>> built_;  // by device
  mutable std::mutex mutex_;
  mutable std::vector<xpu::SharedKernel> held_;
};

}  // namespace

std::unique_ptr<Step> make_kernel(const Fields& fields) {
  return std::make_unique<KernelStep>(fields);
}

}  // namespace xla_xpu

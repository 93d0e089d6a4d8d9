#include "distributed/process_group.h"

#include <utility>

#include "distributed/group.h"
#include "xpu/device.h"

namespace torch_xpu::distributed {

using std::chrono::milliseconds;

ProcessGroupXCCL::ProcessGroupXCCL(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                   c10::intrusive_ptr<Options> options,
                                   c10::intrusive_ptr<c10d::Backend> transport, std::string name)
    : Backend(rank, size),
      name_(std::move(name)),
      options_(std::move(options)),
      group_(Group::make(store, rank, size, name_, std::move(transport), options_->timeout)) {
  auto& ranks = options_->global_ranks_in_group;
  group_->set_label(options_->group_name, ranks.empty() ? rank : static_cast<int>(ranks.at(rank)));
}

ProcessGroupXCCL::~ProcessGroupXCCL() {
  group_->abort();
}

void ProcessGroupXCCL::setTimeout(milliseconds timeout) {
  options_->timeout = timeout;
  group_->set_timeout(timeout);
}
void ProcessGroupXCCL::startCoalescing() {
  group_->start_coalescing();
}
ProcessGroupXCCL::WorkPtr ProcessGroupXCCL::endCoalescing() {
  return group_->end_coalescing();
}
std::uint64_t ProcessGroupXCCL::getSequenceNumberForGroup() {
  return group_->sequence_number();
}
c10d::ErrorType ProcessGroupXCCL::getError() {
  return group_->error();
}
void ProcessGroupXCCL::abort() {
  group_->abort();
}
void ProcessGroupXCCL::shutdown() {
  group_->close();
}

ProcessGroupXCCL::WorkPtr ProcessGroupXCCL::barrier(const c10d::BarrierOptions& options) {
  auto index = options.device_ids.empty() ? xpu::current_device() : static_cast<int>(options.device_ids[0]);
  auto device = options.device && options.device->has_index()
                    ? *options.device
                    : at::Device(at::kXPU, static_cast<at::DeviceIndex>(index));
  Call call{c10d::OpType::BARRIER, "barrier", {}, {}, device, options.timeout};
  Steps steps;
  steps.to_host = [](xpu::Stream) {};  // so that it waits for the caller's stream
  steps.start = [](c10d::Backend& transport, milliseconds timeout) {
    c10d::BarrierOptions options;
    options.timeout = timeout;
    return std::vector{transport.barrier(options)};
  };
  return group_->enqueue(std::move(call), {std::move(steps)});
}

}  // namespace torch_xpu::distributed

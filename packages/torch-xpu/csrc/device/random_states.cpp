#include "device/random_states.h"

#include <ATen/ops/empty.h>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/kernels.h"
#include "ops/random.h"
#include "ops/tensor.h"
#include "xpu/device.h"

namespace torch_xpu {

at::Tensor random_states(int device, std::int64_t count) {
  TORCH_CHECK_VALUE(count >= 0, "random_states(): got ", count, " states, expected at least 0");
  c10::Device on(c10::DeviceType::XPU, static_cast<c10::DeviceIndex>(device));
  auto states = at::empty({count, 2}, at::TensorOptions(on).dtype(at::kLong));
  if (count == 0) return states;
  auto guard = guard_for(states);
  auto random = take_random({}, states, numbers_per_fill * static_cast<std::uint64_t>(count));
  auto group = static_cast<std::int64_t>(xpu::device_info(device).sub_group_size);
  auto range = xpu::NdRange::linear(static_cast<std::size_t>((count + group - 1) / group),
                                    static_cast<std::size_t>(group));
  translate_errors([&] {
    xpu::launch(stream_of(states), kernel_with(device, "", random_states_source, "random_states"), range,
                xpu::args(states.mutable_data_ptr(), count, random.seed, random.offset / 4,
                          numbers_per_fill / 4, random.replay_state));
  });
  return states;
}

}  // namespace torch_xpu

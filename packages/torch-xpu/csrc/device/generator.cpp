#include "device/generator.h"

#include <ATen/ops/empty.h>

#include <array>
#include <cstring>
#include <vector>

#include "xpu/device.h"

namespace torch_xpu {
namespace {

// The state as get_state() returns it, with CUDA's layout: the seed, then the offset.
using State = std::array<std::uint64_t, 2>;

}  // namespace

Generator::Generator(int device, xpu::Generator state)
    : GeneratorImpl({c10::DeviceType::XPU, static_cast<c10::DeviceIndex>(device)},
                    c10::DispatchKeySet(c10::DispatchKey::XPU)),
      state_(std::move(state)) {}

std::uint64_t Generator::seed() {
  auto random = c10::detail::getNonDeterministicRandom(/*is_cuda=*/true);
  set_current_seed(random);
  return random;
}

void Generator::set_offset(std::uint64_t offset) {
  TORCH_CHECK(offset % 4 == 0, "the offset of an xpu generator is a multiple of 4, got ", offset);
  state_.set_offset(offset);
}

void Generator::set_state(const c10::TensorImpl& bytes) {
  TORCH_CHECK(bytes.device().is_cpu() && bytes.dtype() == caffe2::TypeMeta::Make<std::uint8_t>() &&
                  bytes.numel() == sizeof(State),
              "the state of an xpu generator is a CPU tensor of ", sizeof(State), " bytes, got ",
              bytes.numel(), " of ", bytes.dtype(), " on ", bytes.device());
  State state;
  std::memcpy(state.data(), bytes.data(), sizeof state);
  set_current_seed(state[0]);
  set_offset(state[1]);
}

c10::intrusive_ptr<c10::TensorImpl> Generator::get_state() const {
  State state{state_.seed(), state_.offset()};
  auto bytes = at::empty({sizeof state}, at::kByte);
  std::memcpy(bytes.mutable_data_ptr(), state.data(), sizeof state);
  return bytes.getIntrusivePtr();
}

Generator* Generator::clone_impl() const {
  // Not a copy of `state_`, which would share its seed and offset.
  xpu::Generator copy(state_.seed());
  copy.set_offset(state_.offset());
  return new Generator(device().index(), std::move(copy));
}

const at::Generator& default_generator(int device) {
  static const auto* generators = [] {
    auto* list = new std::vector<at::Generator>;
    for (int i = 0; i < xpu::device_count(); ++i)
      list->push_back(at::make_generator<Generator>(i, xpu::default_generator(i)));
    return list;
  }();
  TORCH_CHECK(device < static_cast<int>(generators->size()), "xpu:", device,
              " is not a device: the process has ", generators->size());
  return (*generators)[static_cast<std::size_t>(device)];
}

at::Generator new_generator(int device) {
  return at::make_generator<Generator>(device, xpu::Generator(xpu::Generator::default_seed));
}

}  // namespace torch_xpu

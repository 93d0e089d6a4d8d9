// The generators of PyTorch as the runtime's sources of random numbers.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <mutex>

#include "device/generator.h"
#include "ops/tensor.h"
#include "xpu/kernels/random.h"

namespace torch_xpu {

/// Numbers that the generator advances by for a fill. A draw takes at most two blocks of four numbers.
constexpr std::uint64_t numbers_per_fill = 8;

/// Returns the random state of a kernel that draws at most `increment` numbers for each element of a tensor,
/// from the generator given or the device's own.
inline xpu::Philox take_random(const std::optional<at::Generator>& generator, const at::Tensor& on,
                               std::uint64_t increment) {
  TORCH_CHECK(on.is_xpu(), "Expected a '", on.device().type(), "' device type for generator but found 'xpu'");
  const auto& chosen = generator && generator->defined() ? *generator : default_generator(on.get_device());
  TORCH_CHECK(chosen.device().type() == c10::DeviceType::XPU,
              "Expected a 'xpu' device type for generator but found '", chosen.device().type(), "'");
  auto& ours = *chosen.get<Generator>();
  std::lock_guard lock(ours.mutex_);
  return ours.take(stream_of(on), increment);
}

}  // namespace torch_xpu

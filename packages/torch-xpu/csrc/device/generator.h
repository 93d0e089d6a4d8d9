// A PyTorch generator over the runtime's: a seed and an offset.
#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>

#include "bridge/api.h"
#include "xpu/generator.h"

namespace torch_xpu {

class Generator final : public c10::GeneratorImpl {
 public:
  Generator(int device, xpu::Generator state);

  void set_current_seed(std::uint64_t seed) override { state_.set_seed(seed); }
  std::uint64_t current_seed() const override { return state_.seed(); }
  std::uint64_t seed() override;
  void set_offset(std::uint64_t offset) override;
  std::uint64_t get_offset() const override { return state_.offset(); }
  void set_state(const c10::TensorImpl& bytes) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
  Generator* clone_impl() const override;

  /// Returns the random state for work on the stream that draws at most `increment` numbers for each element.
  xpu::Philox take(xpu::Stream stream, std::uint64_t increment) { return state_.take(stream, increment); }

 private:
  xpu::Generator state_;
};

/// The one that every framework of the process shares on the device.
TORCH_XPU_PUBLIC const at::Generator& default_generator(int device);
at::Generator new_generator(int device);

}  // namespace torch_xpu

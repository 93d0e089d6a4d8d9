// Numbers in device memory, for operators that get scales and zero points as numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace torch_xpu {

/// Returns a tensor without dimensions on the device of `like`. Equal numbers share one, which lives as long
/// as the process; it must not be written to.
at::Tensor device_scalar(float value, const at::Tensor& like);
at::Tensor device_scalar(std::int32_t value, const at::Tensor& like);

}  // namespace torch_xpu

// Checks of what tensors hold: the device looks, and the next wait raises.
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

namespace torch_xpu {

/// Raises, naming `op`, unless all elements of a floating-point tensor are between 0 and 1. `text` says what
/// must be; {a} in it is the place of an element that is not.
void assert_probabilities(std::string_view op, std::string_view text, const at::Tensor& x);

}  // namespace torch_xpu

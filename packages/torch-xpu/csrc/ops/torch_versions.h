// What the headers of PyTorch's versions name differently; all else is compiled for each as it is.
#pragma once

#include <ATen/core/IListRef.h>
#include <ATen/native/Padding.h>
#include <torch/headeronly/version.h>

namespace torch_xpu {

// Scales of _scaled_grouped_mm_v2.
#if TORCH_VERSION_MINOR >= 14
using ScaleList = const at::ITensorListRef&;
#else
using ScaleList = at::TensorList;
#endif

template <int spatial>
void check_padding(const at::Tensor& self, at::IntArrayRef padding) {
#if TORCH_VERSION_MINOR >= 15
  at::native::padding::check_valid_input(self, padding, spatial);
#else
  at::native::padding::check_valid_input<spatial>(self, padding);
#endif
}

}  // namespace torch_xpu

// The operators << and >>: bitwise shifts under older names.
#include <ATen/ops/bitwise_left_shift_ops.h>
#include <ATen/ops/bitwise_right_shift_ops.h>
#include <torch/library.h>

namespace torch_xpu {

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("__lshift__.Tensor", at::_ops::bitwise_left_shift_Tensor::call);
  m.impl("__lshift__.Scalar", at::_ops::bitwise_left_shift_Tensor_Scalar::call);
  m.impl("__ilshift__.Tensor", at::_ops::bitwise_left_shift__Tensor::call);
  m.impl("__ilshift__.Scalar", at::_ops::bitwise_left_shift__Tensor_Scalar::call);
  m.impl("__rshift__.Tensor", at::_ops::bitwise_right_shift_Tensor::call);
  m.impl("__rshift__.Scalar", at::_ops::bitwise_right_shift_Tensor_Scalar::call);
  m.impl("__irshift__.Tensor", at::_ops::bitwise_right_shift__Tensor::call);
  m.impl("__irshift__.Scalar", at::_ops::bitwise_right_shift__Tensor_Scalar::call);
}

}  // namespace torch_xpu

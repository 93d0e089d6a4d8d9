// The operators << and >>: bitwise shifts under older names.
#include <ATen/ops/bitwise_left_shift.h>
#include <ATen/ops/bitwise_right_shift.h>
#include <torch/library.h>

namespace torch_xpu {
namespace {

using at::Scalar;
using at::Tensor;

Tensor left(const Tensor& self, const Tensor& other) {
  return at::bitwise_left_shift(self, other);
}
Tensor left_scalar(const Tensor& self, const Scalar& other) {
  return at::bitwise_left_shift(self, other);
}
Tensor& left_in_place(Tensor& self, const Tensor& other) {
  return self.bitwise_left_shift_(other);
}
Tensor& left_scalar_in_place(Tensor& self, const Scalar& other) {
  return self.bitwise_left_shift_(other);
}
Tensor right(const Tensor& self, const Tensor& other) {
  return at::bitwise_right_shift(self, other);
}
Tensor right_scalar(const Tensor& self, const Scalar& other) {
  return at::bitwise_right_shift(self, other);
}
Tensor& right_in_place(Tensor& self, const Tensor& other) {
  return self.bitwise_right_shift_(other);
}
Tensor& right_scalar_in_place(Tensor& self, const Scalar& other) {
  return self.bitwise_right_shift_(other);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("__lshift__.Tensor", left);
  m.impl("__lshift__.Scalar", left_scalar);
  m.impl("__ilshift__.Tensor", left_in_place);
  m.impl("__ilshift__.Scalar", left_scalar_in_place);
  m.impl("__rshift__.Tensor", right);
  m.impl("__rshift__.Scalar", right_scalar);
  m.impl("__irshift__.Tensor", right_in_place);
  m.impl("__irshift__.Scalar", right_scalar_in_place);
}

}  // namespace torch_xpu

#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/copy.h"
#include "ops/elementwise/minifloat.h"
#include "ops/elementwise/scalar_fits.h"
#include "ops/tensor.h"
#include "xpu/copy.h"
#include "xpu/kernels/fill.h"

namespace torch_xpu {
namespace {

using at::Tensor;

Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking) {
  OperatorGuard guard(self.is_xpu() ? self.device() : src.device());
  copy_tensor(self, src, non_blocking);
  return self;
}

Tensor copy_from(const Tensor& self, const Tensor& dst, bool non_blocking) {
  OperatorGuard guard(self.is_xpu() ? self.device() : dst.device());
  copy_tensor(dst, self, non_blocking);
  return dst;
}

Tensor copy_from_and_resize(const Tensor& self, const Tensor& dst) {
  dst.resize_(self.sizes());
  return copy_from(self, dst, false);
}

Tensor& fill_scalar(Tensor& self, const at::Scalar& value) {
  OperatorGuard guard(self.device());
  check_fits(value, self.scalar_type());
  if (at::has_internal_overlap(self) == at::MemOverlap::Yes) {
    auto once = each_once(self);
    fill_scalar(once, value);
    return self;
  }
  if (self.scalar_type() == at::kComplexHalf || is_minifloat(self))
    return copy_(
        self, at::full({}, value, self.options().dtype(is_minifloat(self) ? at::kFloat : at::kComplexFloat)),
        false);
  if (self.numel() > 0)
    translate_errors([&] { xpu::kernels::fill(stream_of(self), view_of(self), scalar_of(value)); });
  return self;
}

Tensor& fill_tensor(Tensor& self, const Tensor& value) {
  TORCH_CHECK(value.dim() == 0, "fill_: expected a value without dimensions, got ", value.dim());
  if (value.is_cpu()) return fill_scalar(self, value.item());
  return copy_(self, value, false);
}

Tensor& zero_(Tensor& self) {
  auto bytes = with_runtime_dtype(self);
  fill_scalar(bytes, 0);
  return self;
}

at::Scalar local_scalar_dense(const Tensor& self) {
  auto host = at::empty({}, self.options().device(at::kCPU));
  copy_from(self.reshape({}), host, false);
  return host.item();
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("copy_", copy_);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("fill_.Scalar", fill_scalar);
  m.impl("fill_.Tensor", fill_tensor);
  m.impl("zero_", zero_);
  m.impl("_local_scalar_dense", local_scalar_dense);
}

}  // namespace torch_xpu

#include "ops/tensor.h"

#include <c10/util/Exception.h>

namespace torch_xpu {

std::optional<xpu::DType> dtype_if_known(at::ScalarType type) {
  switch (type) {
#define XPU_CASE(dtype, scalar_type) \
  case at::ScalarType::scalar_type:  \
    return xpu::DType::dtype;
    XPU_FOR_SCALAR_TYPES(XPU_CASE)
#undef XPU_CASE
    default:
      return std::nullopt;
  }
}

xpu::DType dtype_of(at::ScalarType type) {
  auto known = dtype_if_known(type);
  TORCH_CHECK_NOT_IMPLEMENTED(known, "xpu has no kernels for tensors of type ", type);
  return *known;
}

namespace {

// An operator was called because one of its tensors is on xpu; the others have to be there too.
void check_on_xpu(const at::Tensor& t) {
  TORCH_CHECK(t.is_xpu(),
              "Expected all tensors to be on the same device, but found at least two devices, xpu and ",
              t.device(), "!");
}

}  // namespace

at::Tensor each_once(const at::Tensor& t) {
  at::Tensor once = t;
  for (std::int64_t d = 0; d < t.dim(); ++d)
    if (t.stride(d) == 0 && t.size(d) > 1) once = once.narrow(d, 0, 1);
  return once;
}

xpu::Tensor view_of(const at::Tensor& t) {
  check_on_xpu(t);
  auto dtype = dtype_of(t.scalar_type());
  void* data = t.storage().unsafeGetStorageImpl()->data() ? const_cast<void*>(t.const_data_ptr()) : nullptr;
  auto sizes = t.sizes(), strides = t.strides();
  return {data, dtype, static_cast<int>(t.dim()), sizes.data(), strides.data()};
}

xpu::Scalar scalar_of(const at::Scalar& value) {
  if (value.isComplex()) {
    auto z = value.toComplexDouble();
    return std::complex<double>(z.real(), z.imag());
  }
  if (value.isFloatingPoint()) return value.toDouble();
  if (value.isBoolean()) return value.toBool();
  return value.type() == at::kUInt64 ? xpu::Scalar(value.toUInt64()) : xpu::Scalar(value.toLong());
}

xpu::Stream stream_of(const at::Tensor& t) {
  check_on_xpu(t);
  return xpu::current_stream(t.get_device());
}

}  // namespace torch_xpu

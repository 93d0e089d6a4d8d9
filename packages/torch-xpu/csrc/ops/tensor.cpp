#include "ops/tensor.h"

#include <c10/util/Exception.h>

namespace torch_xpu {

std::optional<xpu::DType> dtype_if_known(at::ScalarType type) {
  using D = xpu::DType;
  switch (type) {
    case at::kBool:
      return D::boolean;
    case at::kByte:
      return D::u8;
    case at::kChar:
      return D::i8;
    case at::kUInt16:
      return D::u16;
    case at::kShort:
      return D::i16;
    case at::kUInt32:
      return D::u32;
    case at::kInt:
      return D::i32;
    case at::kUInt64:
      return D::u64;
    case at::kLong:
      return D::i64;
    case at::kHalf:
      return D::f16;
    case at::kBFloat16:
      return D::bf16;
    case at::kFloat:
      return D::f32;
    case at::kDouble:
      return D::f64;
    case at::kComplexFloat:
      return D::c64;
    case at::kComplexDouble:
      return D::c128;
    case at::kFloat8_e4m3fn:
      return D::f8e4m3;
    case at::kFloat8_e5m2:
      return D::f8e5m2;
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

#include "xpu/kernels/copy.h"

#include "kernels/copy/channels_copy.h"
#include "kernels/copy/packed_copy.h"
#include "kernels/dtype_text.h"
#include "kernels/geometry.h"
#include "kernels/require.h"
#include "kernels/tuning.h"
#include "process/immortal.h"
#include "xpu/copy.h"
#include "xpu/error.h"
#include "xpu/kernels/elementwise.h"
#include "xpu/memory.h"

namespace xpu::kernels {
namespace {

const Elementwise& copy_op() {
  static auto& op = immortal<Elementwise>(
      Expression{.name = "copy", .outputs = {"a0"}, .headers = {}, .unconverted_inputs = 1});
  return op;
}

// A copy within a dtype moves bits: one kernel for all dtypes of a size, and nothing asks for fp64.
Tensor as_bits(const Tensor& t) {
  Tensor view = t;
  view.dtype = bits_type(t.dtype);
  if (t.dtype != DType::c128 || t.ndim == Tensor::max_dims) return view;
  view.dtype = DType::u64;
  for (int d = 0; d < view.ndim; ++d) view.strides[d] *= 2;
  view.shape[view.ndim] = 2;
  view.strides[view.ndim++] = 1;
  return view;
}

// The driver's copy has no streaming stores. Between devices, or with the host, only the driver can copy.
bool better_than_driver(Stream stream, const Tensor& dst, const Tensor& src) {
  auto bytes = static_cast<std::size_t>(dst.numel()) * size_of(dst.dtype);
  if (!uses_streaming_stores(tuning(stream.device()), bytes)) return false;
  auto here = [&](const Tensor& t) { return memory::find(t.data).device == stream.device(); };
  return here(dst) && here(src);
}

}  // namespace

void copy(Stream stream, const Tensor& dst, const Tensor& src) {
  std::int64_t count = dst.numel();
  if (count == 0 && same_shape(dst, src)) return;
  if (size_of(dst.dtype) == 0 || size_of(src.dtype) == 0) return copy_packed(stream, dst, src);
  if (dst.dtype != src.dtype) return copy_op()(stream, {&dst, 1}, {&src, 1});
  bool plain = same_shape(dst, src) && dst.contiguous() && src.contiguous();
  if (plain && !better_than_driver(stream, dst, src))
    return xpu::copy(stream, dst.data, src.data, static_cast<std::size_t>(count) * size_of(dst.dtype));
  check_shapes({&dst, 1}, {&src, 1}, "copy");
  if (!plain && copy_channels(stream, dst, src)) return;
  Tensor to = as_bits(dst), from = as_bits(src);
  copy_op()(stream, {&to, 1}, {&from, 1});
}

}  // namespace xpu::kernels

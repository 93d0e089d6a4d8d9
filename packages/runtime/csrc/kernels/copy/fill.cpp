#include "xpu/kernels/fill.h"

#include <bit>

#include "kernels/tuning.h"
#include "process/immortal.h"
#include "xpu/copy.h"
#include "xpu/error.h"
#include "xpu/kernels/elementwise.h"

namespace xpu::kernels {
namespace {

const Elementwise& fill_op() {
  static auto& op = immortal<Elementwise>(
      Expression{.name = "fill", .outputs = {"p0"}, .inputs = 0, .scalars = 1, .headers = {}});
  return op;
}

void run(Stream stream, const Tensor& dst, Scalar value) {
  fill_op()(stream, {&dst, 1}, {}, {&value, 1});
}

bool all_bits_zero(DType dtype, const Scalar& value) {
  if (value.integral()) return value.integer_bits() == 0;
  bool zero = std::bit_cast<std::uint64_t>(value.real()) == 0;
  return zero && (!is_complex(dtype) || std::bit_cast<std::uint64_t>(value.imag()) == 0);
}

// The same memory as 64-bit integers, which need no fp64 of the device; `part` picks the real or imaginary
// half.
Tensor words(const Tensor& dst, int part, int per_element) {
  Tensor view = dst;
  view.dtype = DType::u64;
  view.data = static_cast<std::uint64_t*>(dst.data) + part;
  for (int d = 0; d < view.ndim; ++d) view.strides[d] *= per_element;
  return view;
}

// Two elements a byte.
void fill_packed(Stream stream, const Tensor& dst, const Scalar& value, std::int64_t count) {
  expect<UsageError>(dst.contiguous(), "fill: ", dst, " is packed two to a byte and must be contiguous");
  auto nibble = static_cast<int>(value.integer_bits() & 15);
  fill_bytes(stream, dst.data, nibble << 4 | nibble, static_cast<std::size_t>(count + 1) / 2);
}

}  // namespace

void fill(Stream stream, const Tensor& dst, Scalar value) {
  std::int64_t count = dst.numel();
  if (count == 0) return;
  expect<UsageError>(dst.data, "fill: ", dst, " has no memory");
  if (size_of(dst.dtype) == 0) return fill_packed(stream, dst, value, count);
  auto bytes = static_cast<std::size_t>(count) * size_of(dst.dtype);
  bool by_kernel = uses_streaming_stores(tuning(stream.device()), bytes) && dst.dtype != DType::c128;
  if (all_bits_zero(dst.dtype, value) && dst.contiguous() && !by_kernel)
    return fill_bytes(stream, dst.data, 0, bytes);
  if (dst.dtype == DType::f64)
    return run(stream, words(dst, 0, 1), std::bit_cast<std::uint64_t>(value.real()));
  if (dst.dtype == DType::c128) {
    run(stream, words(dst, 0, 2), std::bit_cast<std::uint64_t>(value.real()));
    return run(stream, words(dst, 1, 2), std::bit_cast<std::uint64_t>(value.imag()));
  }
  run(stream, dst, value);
}

}  // namespace xpu::kernels

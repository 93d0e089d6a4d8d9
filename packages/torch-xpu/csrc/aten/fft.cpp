// Fourier transforms: one dimension after the other, the last one first where numbers are real.
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/native/SpectralOpsUtils.h>
#include <ATen/ops/empty_strided.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/tensor.h"
#include "xpu/kernels/elementwise.h"
#include "xpu/kernels/fft.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;
using Dims = c10::SmallVector<std::int64_t, 5>;

double scale_of(std::int64_t normalization, IntArrayRef sizes, IntArrayRef dims) {
  double count = 1;
  for (auto d : dims) count *= static_cast<double>(sizes[d]);
  switch (static_cast<at::native::fft_norm_mode>(normalization)) {
    case at::native::fft_norm_mode::none:
      return 1;
    case at::native::fft_norm_mode::by_root_n:
      return 1 / std::sqrt(count);
    case at::native::fft_norm_mode::by_n:
      return 1 / count;
  }
  TORCH_CHECK(false, "fft: got normalization ", normalization, ", expected 0, 1 or 2");
}

void sort_by_strides(Dims& dims, IntArrayRef strides) {
  std::stable_sort(dims.begin(), dims.end(), [&](auto a, auto b) { return strides[a] > strides[b]; });
}

// What the shape functions for tracing say of results: the dimensions gone along are the innermost ones, the
// others stay in order.
Dims result_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef dims) {
  Dims order;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(sizes.size()); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) order.push_back(d);
  sort_by_strides(order, strides);
  order.append(dims.begin(), dims.end());
  Dims result(sizes.size());
  std::int64_t step = 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    result[*d] = step;
    step *= std::max<std::int64_t>(sizes[*d], 1);
  }
  return result;
}

void along(const Tensor& out, const Tensor& in, std::int64_t dim, bool inverse, double scale) {
  translate_errors([&] {
    xpu::kernels::fft(stream_of(in), view_of(out), view_of(in), static_cast<int>(dim),
                      {.inverse = inverse, .scale = scale});
  });
}

// In place, but for the first dimension.
void complex_transform(const Tensor& out, const Tensor& in, IntArrayRef dims, bool inverse, double scale) {
  Tensor from = in;
  for (auto d = dims.rbegin(); d != dims.rend(); ++d) {
    along(out, from, *d, inverse, scale);
    from = out;
    scale = 1;
  }
}

bool of_halves(const Tensor& t) {
  return c10::toRealValueType(t.scalar_type()) == at::kHalf;
}

// Halves are transformed as floats: they would overflow on the way.
Tensor widened(const Tensor& t) {
  return t.to(t.is_complex() ? at::kComplexFloat : at::kFloat);
}

Tensor c2c(const Tensor& self, IntArrayRef dim, std::int64_t normalization, bool forward) {
  TORCH_CHECK(self.is_complex(), "fft: got ", self.scalar_type(), ", expected a complex tensor");
  if (dim.empty()) return self.clone();
  if (of_halves(self)) return c2c(widened(self), dim, normalization, forward).to(at::kComplexHalf);
  auto guard = guard_for(self);
  Dims dims(dim.begin(), dim.end());
  sort_by_strides(dims, self.strides());
  auto out =
      at::empty_strided(self.sizes(), result_strides(self.sizes(), self.strides(), dims), self.options());
  complex_transform(out, self, dims, !forward, scale_of(normalization, self.sizes(), dim));
  return out;
}

// The strides after the last dimension was gone along, and then up to three of the others at a time.
Dims real_strides(const Tensor& self, IntArrayRef full, IntArrayRef half, IntArrayRef dim) {
  auto last = dim.back();
  auto strides = result_strides(dim.size() == 1 ? full : half, self.strides(), {last});
  Dims others(dim.begin(), dim.end() - 1);
  while (!others.empty()) {
    sort_by_strides(others, strides);
    auto taken = std::min<std::size_t>(3, others.size());
    strides = result_strides(half, strides, {others.end() - taken, taken});
    others.resize(others.size() - taken);
  }
  if (dim.size() > 1 && full[last] != half[last]) return result_strides(full, Dims(full.size()), {});
  return strides;
}

// The second half of a real line's transform is the first one's conjugate, backwards.
void mirror(const Tensor& out, std::int64_t dim, std::int64_t half) {
  static const auto& kernel = *new xpu::kernels::Elementwise(
      {.name = "fft_mirror", .outputs = {"xpu::conj(a0)"}, .headers = {"complex_basic"}});
  auto n = out.size(dim);
  if (n == half || out.numel() == 0) return;
  auto to = view_of(out.narrow(dim, half, n - half));
  auto from = view_of(out.narrow(dim, n - half, 1));
  from.shape[dim] = n - half;
  from.strides[dim] = -out.stride(dim);
  translate_errors([&] { kernel(stream_of(out), {&to, 1}, {&from, 1}); });
}

Tensor r2c(const Tensor& self, IntArrayRef dim, std::int64_t normalization, bool onesided) {
  TORCH_CHECK(self.is_floating_point(), "fft: got ", self.scalar_type(),
              ", expected a floating point tensor");
  if (of_halves(self)) return r2c(widened(self), dim, normalization, onesided).to(at::kComplexHalf);
  auto guard = guard_for(self);
  auto last = dim.back();
  auto half = self.sizes().vec(), full = self.sizes().vec();
  half[last] = half[last] / 2 + 1;
  if (onesided) full[last] = half[last];
  auto type = c10::toComplexType(self.scalar_type());
  auto out = at::empty_strided(full, real_strides(self, full, half, dim), self.options().dtype(type));
  along(out.narrow(last, 0, half[last]), self, last, false, scale_of(normalization, self.sizes(), dim));
  if (!onesided) mirror(out, last, half[last]);
  complex_transform(out, out, dim.slice(0, dim.size() - 1), false, 1);
  return out;
}

Tensor c2r(const Tensor& self, IntArrayRef dim, std::int64_t normalization, std::int64_t last_size) {
  TORCH_CHECK(self.is_complex(), "fft: got ", self.scalar_type(), ", expected a complex tensor");
  if (of_halves(self)) return c2r(widened(self), dim, normalization, last_size).to(at::kHalf);
  auto guard = guard_for(self);
  auto last = dim.back();
  auto sizes = self.sizes().vec();
  sizes[last] = last_size;
  auto from = dim.size() > 1 ? c2c(self, dim.slice(0, dim.size() - 1), 0, false) : self;
  auto type = c10::toRealValueType(self.scalar_type());
  auto out =
      at::empty_strided(sizes, result_strides(sizes, from.strides(), {last}), self.options().dtype(type));
  // More elements than the result needs are left out.
  auto needed = last_size / 2 + 1;
  if (from.size(last) > needed) from = from.narrow(last, 0, needed);
  along(out, from, last, true, scale_of(normalization, sizes, dim));
  return out;
}

Tensor& store(const Tensor& result, const Tensor& self, Tensor& out) {
  check_one_device(self, out);
  at::native::resize_output(out, result.sizes());
  return out.copy_(result);
}
Tensor& c2c_out(const Tensor& self, IntArrayRef dim, std::int64_t normalization, bool forward, Tensor& out) {
  return store(c2c(self, dim, normalization, forward), self, out);
}
Tensor& r2c_out(const Tensor& self, IntArrayRef dim, std::int64_t normalization, bool onesided, Tensor& out) {
  return store(r2c(self, dim, normalization, onesided), self, out);
}
Tensor& c2r_out(const Tensor& self, IntArrayRef dim, std::int64_t normalization, std::int64_t last_size,
                Tensor& out) {
  return store(c2r(self, dim, normalization, last_size), self, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_fft_c2c", c2c);
  m.impl("_fft_c2c.out", c2c_out);
  m.impl("_fft_r2c", r2c);
  m.impl("_fft_r2c.out", r2c_out);
  m.impl("_fft_c2r", c2r);
  m.impl("_fft_c2r.out", c2r_out);
}

}  // namespace torch_xpu

// Pooling at random windows, and maxima put back where they came from.
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/fractional_max_pool2d_backward_meta.h>
#include <ATen/ops/fractional_max_pool2d_meta.h>
#include <ATen/ops/fractional_max_pool3d_meta.h>

#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;

// Where the windows begin along a dimension: samples of [planes] give [planes, windows].
Tensor beginnings(const Tensor& samples, std::int64_t from, std::int64_t windows, std::int64_t kernel) {
  auto type = samples.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  auto u = samples.to(type).unsqueeze(1);
  if (windows == 1) return at::empty({u.size(0), 1}, u.options().dtype(at::kLong)).fill_(from - kernel);
  double alpha = static_cast<double>(from - kernel) / static_cast<double>(windows - 1);
  auto places = at::arange(windows, u.options()).unsqueeze(0);
  auto begin = places.add(u).mul(alpha).floor().sub(u.mul(alpha).floor()).to(at::kLong);
  begin.select(1, windows - 1).fill_(from - kernel);
  return begin;
}

// All elements of all windows side by side, and the largest of each.
template <int spatial>
void fractional_max_pool(auto& op, const Tensor& self, IntArrayRef kernel, IntArrayRef,
                         const Tensor& samples) {
  auto& out = op.output();
  auto& where = op.output(1);
  if (out.numel() == 0) return;
  std::int64_t plane = 1, elements = 1;
  for (std::int64_t d = 1; d <= spatial; ++d) plane *= self.size(-d);
  auto planes = self.numel() / plane;
  // As on every device, an input without a batch may come with more draws than it needs.
  auto random = samples.reshape({-1, spatial}).narrow(0, 0, planes);
  // [planes, windows..., taps...], a dimension at a time.
  Tensor index;
  at::DimVector sizes{planes};
  for (std::int64_t d = 0; d < spatial; ++d) {
    auto from = self.size(d - spatial), windows = out.size(d - spatial),
         window_size = kernel[static_cast<std::size_t>(d)];
    // In two dimensions the first sample is for the width.
    auto begin = beginnings(random.select(1, spatial == 2 ? 1 - d : d), from, windows, window_size);
    auto at = begin.unsqueeze(2).add(at::arange(window_size, begin.options()));
    at::DimVector shape(1 + 2 * spatial, 1);
    shape[0] = planes;
    shape[static_cast<std::size_t>(1 + d)] = windows;
    shape[static_cast<std::size_t>(1 + spatial + d)] = window_size;
    at = at.reshape(shape);
    index = index.defined() ? index.mul(from).add(at) : at;
    sizes.push_back(windows);
    elements *= window_size;
  }
  sizes.push_back(elements);
  index = index.reshape(sizes);
  auto values = self.reshape({planes, plane}).gather(1, index.reshape({planes, -1})).view(sizes);
  auto [best, tap] = values.max(-1);
  out.copy_(best.view(out.sizes()));
  where.copy_(index.gather(-1, tap.unsqueeze(-1)).view(where.sizes()));
}

// Each gradient goes to the element that its result came from.
void scatter_planes(const Tensor& out, const Tensor& from, const Tensor& where, int spatial, bool add) {
  std::int64_t plane = 1;
  for (std::int64_t d = 1; d <= spatial; ++d) plane *= out.size(-d);
  auto dense = out.is_contiguous() ? out : at::empty(out.sizes(), out.options());
  dense.zero_();
  if (from.numel()) {
    auto planes = out.numel() / plane;
    auto flat = dense.view({planes, plane});
    auto index = where.reshape({planes, -1}), source = from.reshape({planes, -1});
    add ? flat.scatter_add_(1, index, source) : flat.scatter_(1, index, source);
  }
  if (!dense.is_same(out)) out.copy_(dense);
}

void fractional_max_pool2d_backward(auto& op, const Tensor& grad, const Tensor&, IntArrayRef, IntArrayRef,
                                    const Tensor& indices) {
  scatter_planes(op.output(), grad, indices, 2, true);
}

Tensor& fractional_max_pool3d_backward_out(const Tensor& grad, const Tensor& self, IntArrayRef, IntArrayRef,
                                           const Tensor& indices, Tensor& grad_in) {
  auto guard = guard_for(grad, self);
  check_one_device(grad, self, indices, grad_in);
  TORCH_CHECK(grad.sizes() == indices.sizes() && grad.dim() == self.dim(),
              "fractional_max_pool3d_backward: expected grad_output of the indices' sizes ", indices.sizes(),
              ", got ", grad.sizes());
  grad_in.resize_(self.sizes());
  scatter_planes(grad_in, grad, indices, 3, true);
  return grad_in;
}
Tensor fractional_max_pool3d_backward(const Tensor& grad, const Tensor& self, IntArrayRef kernel,
                                      IntArrayRef output, const Tensor& indices) {
  auto guard = guard_for(grad, self);
  auto grad_in = at::empty({0}, self.options());
  return fractional_max_pool3d_backward_out(grad, self, kernel, output, indices, grad_in);
}

void unpool(int spatial, const Tensor& self, const Tensor& indices, IntArrayRef output_size,
            const Tensor& out) {
  TORCH_CHECK(indices.scalar_type() == at::kLong,
              "elements in indices should be type int64 but got: ", indices.scalar_type());
  TORCH_CHECK(static_cast<int>(output_size.size()) == spatial, "There should be exactly ", spatial,
              " elements in output_size, but got ", output_size.size(), " elements.");
  TORCH_CHECK(self.dim() == spatial + 1 || self.dim() == spatial + 2, "Input to max_unpooling", spatial,
              "d should be a ", spatial + 1, "d or ", spatial + 2, "d Tensor, but got ", self.dim(),
              " dimensions");
  TORCH_CHECK(self.sizes() == indices.sizes(),
              "Expected shape of indices to be same as that of the input tensor (", self.sizes(),
              ") but got indices tensor with shape: ", indices.sizes());
  for (std::int64_t d = self.dim() - spatial; d < self.dim(); ++d)
    TORCH_CHECK(self.size(d) > 0, "max_unpooling", spatial,
                "d(): Expected input to have non-zero size for non-batch dimensions, but got ", self.sizes(),
                " with dimension ", d, " being empty.");
  auto sizes = self.sizes().vec();
  std::copy(output_size.begin(), output_size.end(), sizes.end() - spatial);
  out.resize_(sizes);
  if (out.numel()) scatter_planes(out, self, indices, spatial, false);
}

Tensor& max_unpool2d_out(const Tensor& self, const Tensor& indices, c10::SymIntArrayRef output_size,
                         Tensor& out) {
  auto guard = guard_for(self);
  check_one_device(self, indices, out);
  unpool(2, self, indices, C10_AS_INTARRAYREF_SLOW(output_size), out);
  return out;
}
Tensor max_unpool2d(const Tensor& self, const Tensor& indices, c10::SymIntArrayRef output_size) {
  auto guard = guard_for(self);
  auto out = at::empty({0}, self.options());
  return max_unpool2d_out(self, indices, output_size, out);
}
Tensor& max_unpool3d_out(const Tensor& self, const Tensor& indices, c10::SymIntArrayRef output_size,
                         IntArrayRef stride, IntArrayRef padding, Tensor& out) {
  auto guard = guard_for(self);
  check_one_device(self, indices, out);
  TORCH_CHECK(stride.size() == 3 && padding.size() == 3,
              "There should be exactly three elements (depth, height, width) in stride and padding, but got ",
              stride.size(), " and ", padding.size());
  for (auto step : stride) TORCH_CHECK(step > 0, "strides should be greater than zero, but got ", stride);
  unpool(3, self, indices, C10_AS_INTARRAYREF_SLOW(output_size), out);
  return out;
}
Tensor max_unpool3d(const Tensor& self, const Tensor& indices, c10::SymIntArrayRef output_size,
                    IntArrayRef stride, IntArrayRef padding) {
  auto guard = guard_for(self);
  auto out = at::empty({0}, self.options());
  return max_unpool3d_out(self, indices, output_size, stride, padding, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  namespace meta = at::meta;
  structured<meta::structured_fractional_max_pool2d, KERNEL(fractional_max_pool<2>), 2>(
      m, "fractional_max_pool2d", "fractional_max_pool2d.output");
  structured<meta::structured_fractional_max_pool3d, KERNEL(fractional_max_pool<3>), 2>(
      m, "fractional_max_pool3d", "fractional_max_pool3d.output");
  structured<meta::structured_fractional_max_pool2d_backward, KERNEL(fractional_max_pool2d_backward)>(
      m, "fractional_max_pool2d_backward", "fractional_max_pool2d_backward.grad_input");
  m.impl("fractional_max_pool3d_backward", fractional_max_pool3d_backward);
  m.impl("fractional_max_pool3d_backward.grad_input", fractional_max_pool3d_backward_out);
  m.impl("max_unpool2d", max_unpool2d);
  m.impl("max_unpool2d.out", max_unpool2d_out);
  m.impl("max_unpool3d", max_unpool3d);
  m.impl("max_unpool3d.out", max_unpool3d_out);
}

}  // namespace torch_xpu

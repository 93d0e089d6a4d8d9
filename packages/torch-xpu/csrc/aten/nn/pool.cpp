// Pooling over windows and over adaptive ones: maxima with their places, and averages.
#include <ATen/native/AdaptivePooling.h>
#include <ATen/native/Pool.h>
#include <ATen/ops/adaptive_max_pool2d_backward_meta.h>
#include <ATen/ops/adaptive_max_pool2d_meta.h>
#include <ATen/ops/adaptive_max_pool3d_backward_meta.h>
#include <ATen/ops/adaptive_max_pool3d_meta.h>
#include <ATen/ops/avg_pool2d_backward_meta.h>
#include <ATen/ops/avg_pool2d_meta.h>
#include <ATen/ops/avg_pool3d_backward_meta.h>
#include <ATen/ops/avg_pool3d_meta.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/max_pool2d_with_indices_backward_meta.h>
#include <ATen/ops/max_pool2d_with_indices_meta.h>

#include "ops/structured.h"
#include "ops/windows.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;

// One number may stand for all dimensions.
std::int64_t pick(IntArrayRef list, std::size_t k, std::int64_t otherwise) {
  return list.empty() ? otherwise : list.size() == 1 ? list[0] : list[k];
}

struct Window {
  IntArrayRef kernel, stride, padding, dilation = {};
};

// `large` has the sizes before pooling, `small` those after.
template <int spatial>
std::array<Stencil, spatial> stencils_of(Stencil::Kind kind, const Tensor& large, const Tensor& small,
                                         const Window& window, bool is_backward,
                                         std::optional<std::int64_t> divisor = {}) {
  std::array<Stencil, spatial> stencils;
  for (std::size_t k = 0; k < spatial; ++k) {
    auto from_last = static_cast<std::int64_t>(spatial - k);
    auto kernel = pick(window.kernel, k, 1);
    stencils[k] = {.kind = kind,
                   .from = large.size(large.dim() - from_last),
                   .to = small.size(small.dim() - from_last),
                   .kernel = kernel,
                   .stride = pick(window.stride, k, kernel),
                   .pad = pick(window.padding, k, 0),
                   .dilation = pick(window.dilation, k, 1),
                   .is_backward = is_backward};
    if (divisor) stencils[k].scale = k == spatial - 1 ? static_cast<double>(*divisor) : 1;
  }
  return stencils;
}

template <int spatial>
void avg_pool(auto& op, const Tensor& self, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, bool,
              bool count_padding, std::optional<std::int64_t> divisor) {
  auto kind = count_padding || divisor ? Stencil::average : Stencil::average_inside;
  window_sum(op.output(), self,
             stencils_of<spatial>(kind, self, op.output(), {kernel, stride, padding}, false, divisor));
}

template <int spatial>
void avg_pool_backward(auto& op, const Tensor& grad, const Tensor& self, IntArrayRef kernel,
                       IntArrayRef stride, IntArrayRef padding, bool, bool count_padding,
                       std::optional<std::int64_t> divisor) {
  auto kind = count_padding || divisor ? Stencil::average : Stencil::average_inside;
  window_sum(op.output(), grad,
             stencils_of<spatial>(kind, self, grad, {kernel, stride, padding}, true, divisor));
}

void max_pool2d(auto& op, const Tensor& self, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                IntArrayRef dilation, bool) {
  window_max(op.output(), op.output(1), self,
             stencils_of<2>(Stencil::window, self, op.output(), {kernel, stride, padding, dilation}, false));
}

void max_pool2d_backward(auto& op, const Tensor& grad, const Tensor& self, IntArrayRef kernel,
                         IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool,
                         const Tensor& indices) {
  window_max_backward(op.output(), grad, indices,
                      stencils_of<2>(Stencil::window, self, grad, {kernel, stride, padding, dilation}, true));
}

template <int spatial>
void adaptive_max_pool(auto& op, const Tensor& self, IntArrayRef) {
  window_max(op.output(), op.output(1), self,
             stencils_of<spatial>(Stencil::adaptive_window, self, op.output(), {}, false));
}

template <int spatial>
void adaptive_max_pool_backward(auto& op, const Tensor& grad, const Tensor& self, const Tensor& indices) {
  window_max_backward(op.output(), grad, indices,
                      stencils_of<spatial>(Stencil::adaptive_window, self, grad, {}, true));
}

template <int spatial>
Tensor& adaptive_avg_pool_out(const Tensor& self, c10::SymIntArrayRef output_size, Tensor& out) {
  auto guard = guard_for(self);
  check_one_device(self, out);
  auto to = C10_AS_INTARRAYREF_SLOW(output_size);
  TORCH_CHECK(to.size() == spatial, "adaptive_avg_pool", spatial, "d: output_size must be ", spatial);
  TORCH_CHECK(self.dim() == spatial + 1 || self.dim() == spatial + 2, "adaptive_avg_pool", spatial,
              "d(): Expected ", spatial + 1, "D or ", spatial + 2, "D tensor, but got ", self.sizes());
  for (int k = 1; k <= spatial; ++k)
    TORCH_CHECK(self.size(-k) > 0, "adaptive_avg_pool", spatial,
                "d(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ",
                self.sizes(), " with dimension ", self.dim() - k, " being empty");
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), "expected dtype ", self.scalar_type(),
              " for `output` but got dtype ", out.scalar_type());
  auto sizes = self.sizes().vec();
  std::copy(to.begin(), to.end(), sizes.end() - spatial);
  out.resize_(sizes, self.suggest_memory_format());
  window_sum(out, self, stencils_of<spatial>(Stencil::adaptive_average, self, out, {}, false));
  return out;
}
template <int spatial>
Tensor adaptive_avg_pool(const Tensor& self, c10::SymIntArrayRef output_size) {
  auto guard = guard_for(self);
  auto out = at::empty({0}, self.options());
  return adaptive_avg_pool_out<spatial>(self, output_size, out);
}

template <int spatial>
Tensor& adaptive_avg_pool_backward_out(const Tensor& grad, const Tensor& self, Tensor& grad_in) {
  auto guard = guard_for(grad, self);
  check_one_device(grad, self, grad_in);
  at::native::adaptive_pool_empty_output_check(grad, "adaptive_avg_pool_backward");
  TORCH_CHECK(grad.dim() == self.dim() && grad.scalar_type() == self.scalar_type(), "adaptive_avg_pool",
              spatial, "d_backward(): expected grad_output with ", self.dim(), " dimensions of ",
              self.scalar_type(), ", got ", grad.sizes(), " of ", grad.scalar_type());
  grad_in.resize_(self.sizes(), self.suggest_memory_format());
  window_sum(grad_in, grad, stencils_of<spatial>(Stencil::adaptive_average, self, grad, {}, true));
  return grad_in;
}
template <int spatial>
Tensor adaptive_avg_pool_backward(const Tensor& grad, const Tensor& self) {
  auto guard = guard_for(grad, self);
  auto grad_in = at::empty({0}, self.options());
  return adaptive_avg_pool_backward_out<spatial>(grad, self, grad_in);
}

// Three dimensions are the one maximum that PyTorch has no meta function for.
std::tuple<Tensor&, Tensor&> max_pool3d_out(const Tensor& self, IntArrayRef kernel, IntArrayRef stride,
                                            IntArrayRef padding, IntArrayRef dilation, bool ceil_mode,
                                            Tensor& out, Tensor& indices) {
  auto guard = guard_for(self);
  check_one_device(self, out, indices);
  for (auto list : {kernel, padding, dilation})
    TORCH_CHECK(
        list.size() == 1 || list.size() == 3,
        "max_pool3d: kernel_size, padding and dilation must be a single int, or a tuple of three ints");
  TORCH_CHECK(stride.empty() || stride.size() == 1 || stride.size() == 3,
              "max_pool3d: stride must be omitted, a single int, or a tuple of three ints");
  TORCH_CHECK(self.dim() == 4 || self.dim() == 5, "max_pool3d: expected 4D or 5D tensor for input, got ",
              self.sizes());
  std::int64_t k[3], s[3], p[3], d[3], from[3], to[3];
  auto sizes = self.sizes().vec();
  for (std::size_t i = 0; i < 3; ++i) {
    k[i] = pick(kernel, i, 1);
    s[i] = pick(stride, i, k[i]);
    p[i] = pick(padding, i, 0);
    d[i] = pick(dilation, i, 1);
    auto& size = sizes[sizes.size() - 3 + i];
    from[i] = size;
    to[i] = size = at::native::pooling_output_shape<std::int64_t>(size, k[i], p[i], s[i], d[i], ceil_mode);
  }
  at::native::pool3d_shape_check(self, self.size(-4), k[0], k[1], k[2], s[0], s[1], s[2], p[0], p[1], p[2],
                                 d[0], d[1], d[2], from[0], from[1], from[2], to[0], to[1], to[2],
                                 "max_pool3d_with_indices()");
  out.resize_(sizes, self.suggest_memory_format());
  indices.resize_(sizes, self.suggest_memory_format());
  window_max(out, indices, self,
             stencils_of<3>(Stencil::window, self, out, {kernel, stride, padding, dilation}, false));
  return {out, indices};
}
std::tuple<Tensor, Tensor> max_pool3d(const Tensor& self, IntArrayRef kernel, IntArrayRef stride,
                                      IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  auto guard = guard_for(self);
  auto out = at::empty({0}, self.options()), indices = at::empty({0}, self.options().dtype(at::kLong));
  max_pool3d_out(self, kernel, stride, padding, dilation, ceil_mode, out, indices);
  return {out, indices};
}

Tensor& max_pool3d_backward_out(const Tensor& grad, const Tensor& self, IntArrayRef kernel,
                                IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool,
                                const Tensor& indices, Tensor& grad_in) {
  auto guard = guard_for(grad, self);
  check_one_device(grad, self, indices, grad_in);
  TORCH_CHECK(grad.sizes() == indices.sizes() && grad.dim() == self.dim(),
              "max_pool3d_with_indices_backward: expected grad_output of the indices' sizes ",
              indices.sizes(), ", got ", grad.sizes());
  grad_in.resize_(self.sizes(), self.suggest_memory_format());
  window_max_backward(grad_in, grad, indices,
                      stencils_of<3>(Stencil::window, self, grad, {kernel, stride, padding, dilation}, true));
  return grad_in;
}
Tensor max_pool3d_backward(const Tensor& grad, const Tensor& self, IntArrayRef kernel, IntArrayRef stride,
                           IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, const Tensor& indices) {
  auto guard = guard_for(grad, self);
  auto grad_in = at::empty({0}, self.options());
  return max_pool3d_backward_out(grad, self, kernel, stride, padding, dilation, ceil_mode, indices, grad_in);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  namespace meta = at::meta;
#define POOL_BACKWARD(name, ...) \
  structured<meta::structured_##name, KERNEL(__VA_ARGS__)>(m, #name, #name ".grad_input")
  structured<meta::structured_avg_pool2d, KERNEL(avg_pool<2>)>(m, "avg_pool2d", "avg_pool2d.out");
  structured<meta::structured_avg_pool3d, KERNEL(avg_pool<3>)>(m, "avg_pool3d", "avg_pool3d.out");
  POOL_BACKWARD(avg_pool2d_backward, avg_pool_backward<2>);
  POOL_BACKWARD(avg_pool3d_backward, avg_pool_backward<3>);
  structured<meta::structured_max_pool2d_with_indices, KERNEL(max_pool2d), 2>(m, "max_pool2d_with_indices",
                                                                              "max_pool2d_with_indices.out");
  POOL_BACKWARD(max_pool2d_with_indices_backward, max_pool2d_backward);
  structured<meta::structured_adaptive_max_pool2d, KERNEL(adaptive_max_pool<2>), 2>(
      m, "adaptive_max_pool2d", "adaptive_max_pool2d.out");
  structured<meta::structured_adaptive_max_pool3d, KERNEL(adaptive_max_pool<3>), 2>(
      m, "adaptive_max_pool3d", "adaptive_max_pool3d.out");
  POOL_BACKWARD(adaptive_max_pool2d_backward, adaptive_max_pool_backward<2>);
  POOL_BACKWARD(adaptive_max_pool3d_backward, adaptive_max_pool_backward<3>);
  m.impl("max_pool3d_with_indices", max_pool3d);
  m.impl("max_pool3d_with_indices.out", max_pool3d_out);
  m.impl("max_pool3d_with_indices_backward", max_pool3d_backward);
  m.impl("max_pool3d_with_indices_backward.grad_input", max_pool3d_backward_out);
  m.impl("_adaptive_avg_pool2d", adaptive_avg_pool<2>);
  m.impl("_adaptive_avg_pool3d", adaptive_avg_pool<3>);
  m.impl("adaptive_avg_pool2d.out", adaptive_avg_pool_out<2>);
  m.impl("adaptive_avg_pool3d.out", adaptive_avg_pool_out<3>);
  m.impl("_adaptive_avg_pool2d_backward", adaptive_avg_pool_backward<2>);
  m.impl("_adaptive_avg_pool3d_backward", adaptive_avg_pool_backward<3>);
  m.impl("adaptive_avg_pool3d_backward.grad_input", adaptive_avg_pool_backward_out<3>);
}

}  // namespace torch_xpu

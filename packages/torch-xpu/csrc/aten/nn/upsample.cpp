// Interpolation to another size, forward and backward.
#include <ATen/ops/_upsample_bicubic2d_aa_backward_meta.h>
#include <ATen/ops/_upsample_bicubic2d_aa_meta.h>
#include <ATen/ops/_upsample_bilinear2d_aa_backward_meta.h>
#include <ATen/ops/_upsample_bilinear2d_aa_meta.h>
#include <ATen/ops/_upsample_lanczos2d_aa_backward_meta.h>
#include <ATen/ops/_upsample_lanczos2d_aa_meta.h>
#include <ATen/ops/_upsample_nearest_exact1d_backward_meta.h>
#include <ATen/ops/_upsample_nearest_exact1d_meta.h>
#include <ATen/ops/_upsample_nearest_exact2d_backward_meta.h>
#include <ATen/ops/_upsample_nearest_exact2d_meta.h>
#include <ATen/ops/_upsample_nearest_exact3d_backward_meta.h>
#include <ATen/ops/_upsample_nearest_exact3d_meta.h>
#include <ATen/ops/upsample_bicubic2d_backward_meta.h>
#include <ATen/ops/upsample_bicubic2d_meta.h>
#include <ATen/ops/upsample_bilinear2d_backward_meta.h>
#include <ATen/ops/upsample_bilinear2d_meta.h>
#include <ATen/ops/upsample_linear1d_backward_meta.h>
#include <ATen/ops/upsample_linear1d_meta.h>
#include <ATen/ops/upsample_nearest1d_backward_meta.h>
#include <ATen/ops/upsample_nearest1d_meta.h>
#include <ATen/ops/upsample_nearest2d_backward_meta.h>
#include <ATen/ops/upsample_nearest2d_meta.h>
#include <ATen/ops/upsample_nearest3d_backward_meta.h>
#include <ATen/ops/upsample_nearest3d_meta.h>
#include <ATen/ops/upsample_trilinear3d_backward_meta.h>
#include <ATen/ops/upsample_trilinear3d_meta.h>

#include "ops/structured.h"
#include "ops/windows.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;
using Scales = std::initializer_list<std::optional<double>>;

// Sizes are of the spatial dimensions alone.
std::vector<Stencil> stencils_of(Stencil::Kind kind, IntArrayRef from, IntArrayRef to, bool align_corners,
                                 Scales scales, bool is_backward) {
  std::vector<Stencil> stencils;
  std::size_t k = 0;
  for (auto& scale : scales) {
    stencils.push_back({.kind = kind,
                        .from = from[k],
                        .to = to[k],
                        .scale = scale.value_or(0),
                        .align_corners = align_corners,
                        .is_backward = is_backward});
    ++k;
  }
  return stencils;
}

IntArrayRef spatial(IntArrayRef sizes) {
  return sizes.slice(2);
}

template <Stencil::Kind kind, class... S>
void interpolate(auto& op, const Tensor& self, IntArrayRef, bool align_corners, const S&... scales) {
  auto& out = op.output();
  window_sum(
      out, self,
      stencils_of(kind, spatial(self.sizes()), spatial(out.sizes()), align_corners, {scales...}, false));
}
template <Stencil::Kind kind, class... S>
void interpolate(auto& op, const Tensor& self, IntArrayRef sizes, const std::optional<double>& first,
                 const S&... scales) {
  interpolate<kind>(op, self, sizes, false, first, scales...);
}

template <Stencil::Kind kind, class... S>
void interpolate_backward(auto& op, const Tensor& grad, IntArrayRef, IntArrayRef, bool align_corners,
                          const S&... scales) {
  auto& out = op.output();
  window_sum(
      out, grad,
      stencils_of(kind, spatial(out.sizes()), spatial(grad.sizes()), align_corners, {scales...}, true));
}
template <Stencil::Kind kind, class... S>
void interpolate_backward(auto& op, const Tensor& grad, IntArrayRef to, IntArrayRef from,
                          const std::optional<double>& first, const S&... scales) {
  interpolate_backward<kind>(op, grad, to, from, false, first, scales...);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  namespace meta = at::meta;
#define UPSAMPLE(name, kind)                                                                       \
  structured<meta::structured_##name, KERNEL(interpolate<Stencil::kind>)>(m, #name, #name ".out"); \
  structured<meta::structured_##name##_backward, KERNEL(interpolate_backward<Stencil::kind>)>(     \
      m, #name "_backward", #name "_backward.grad_input")
  UPSAMPLE(upsample_nearest1d, nearest);
  UPSAMPLE(upsample_nearest2d, nearest);
  UPSAMPLE(upsample_nearest3d, nearest);
  UPSAMPLE(_upsample_nearest_exact1d, nearest_exact);
  UPSAMPLE(_upsample_nearest_exact2d, nearest_exact);
  UPSAMPLE(_upsample_nearest_exact3d, nearest_exact);
  UPSAMPLE(upsample_linear1d, linear);
  UPSAMPLE(upsample_bilinear2d, linear);
  UPSAMPLE(upsample_trilinear3d, linear);
  UPSAMPLE(upsample_bicubic2d, cubic);
  UPSAMPLE(_upsample_bilinear2d_aa, linear_aa);
  UPSAMPLE(_upsample_bicubic2d_aa, cubic_aa);
  UPSAMPLE(_upsample_lanczos2d_aa, lanczos_aa);
}

}  // namespace torch_xpu

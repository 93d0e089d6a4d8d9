// Windows laid out as columns, and columns added up again.
#include <ATen/native/im2col_shape_check.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/arguments.h"
#include "ops/windows.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;

void check_pairs(std::initializer_list<IntArrayRef> lists) {
  for (auto list : lists)
    TORCH_CHECK(list.size() == 2, "expected two numbers, one for each dimension, got ", list);
}

Tensor& im2col_out(const Tensor& self, IntArrayRef kernel, IntArrayRef dilation, IntArrayRef padding,
                   IntArrayRef stride, Tensor& out) {
  auto guard = guard_for(self);
  check_one_device(self, out);
  check_pairs({kernel, dilation, padding, stride});
  at::native::im2col_shape_check(self, Tensor(), kernel[0], kernel[1], dilation[0], dilation[1], padding[0],
                                 padding[1], stride[0], stride[1]);
  bool batched = self.dim() == 4;
  auto x = batched ? self : self.unsqueeze(0);
  if (padding[0] || padding[1]) x = at::constant_pad_nd(x, {padding[1], padding[1], padding[0], padding[0]});
  std::int64_t windows[2];
  for (std::size_t k = 0; k < 2; ++k)
    windows[k] =
        (x.size(2 + static_cast<std::int64_t>(k)) - dilation[k] * (kernel[k] - 1) - 1) / stride[k] + 1;
  auto n = x.size(0), c = x.size(1);
  auto view = x.as_strided({n, c, kernel[0], kernel[1], windows[0], windows[1]},
                           {x.stride(0), x.stride(1), x.stride(2) * dilation[0], x.stride(3) * dilation[1],
                            x.stride(2) * stride[0], x.stride(3) * stride[1]});
  auto rows = c * kernel[0] * kernel[1], columns = windows[0] * windows[1];
  out.resize_(batched ? std::vector{n, rows, columns} : std::vector{rows, columns});
  out.view(view.sizes()).copy_(view);
  return out;
}
Tensor im2col(const Tensor& self, IntArrayRef kernel, IntArrayRef dilation, IntArrayRef padding,
              IntArrayRef stride) {
  auto guard = guard_for(self);
  auto out = at::empty({0}, self.options());
  return im2col_out(self, kernel, dilation, padding, stride, out);
}

Tensor& col2im_out(const Tensor& self, c10::SymIntArrayRef output_size, IntArrayRef kernel,
                   IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride, Tensor& out) {
  auto guard = guard_for(self);
  check_one_device(self, out);
  auto size = C10_AS_INTARRAYREF_SLOW(output_size);
  check_pairs({size, kernel, dilation, padding, stride});
  at::native::col2im_shape_check(self, Tensor(), size[0], size[1], kernel[0], kernel[1], dilation[0],
                                 dilation[1], padding[0], padding[1], stride[0], stride[1]);
  bool batched = self.dim() == 3;
  auto x = batched ? self : self.unsqueeze(0);
  auto n = x.size(0), c = x.size(1) / (kernel[0] * kernel[1]);
  std::int64_t windows[2];
  std::array<Stencil, 2> stencils;
  for (std::size_t k = 0; k < 2; ++k) {
    windows[k] = (size[k] + 2 * padding[k] - dilation[k] * (kernel[k] - 1) - 1) / stride[k] + 1;
    stencils[k] = {.kind = Stencil::fold,
                   .from = kernel[k] * windows[k],
                   .to = size[k],
                   .kernel = kernel[k],
                   .stride = stride[k],
                   .pad = padding[k],
                   .dilation = dilation[k]};
  }
  // Taps and windows of a dimension become one dimension, over which the stencil's table is.
  auto planes = x.reshape({n, c, kernel[0], kernel[1], windows[0], windows[1]})
                    .permute({0, 1, 2, 4, 3, 5})
                    .reshape({n, c, stencils[0].from, stencils[1].from});
  out.resize_({n, c, size[0], size[1]});
  window_sum(out, planes, stencils);
  if (!batched) out.resize_({c, size[0], size[1]});
  return out;
}
Tensor col2im(const Tensor& self, c10::SymIntArrayRef output_size, IntArrayRef kernel, IntArrayRef dilation,
              IntArrayRef padding, IntArrayRef stride) {
  auto guard = guard_for(self);
  auto out = at::empty({0}, self.options());
  return col2im_out(self, output_size, kernel, dilation, padding, stride, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("im2col", im2col);
  m.impl("im2col.out", im2col_out);
  m.impl("col2im", col2im);
  m.impl("col2im.out", col2im_out);
}

}  // namespace torch_xpu

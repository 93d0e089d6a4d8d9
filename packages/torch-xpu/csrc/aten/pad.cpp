// Padding with reflections of a tensor and with its edges, forward and backward.
#include <ATen/ops/empty.h>
#include <ATen/ops/reflection_pad1d_backward_meta.h>
#include <ATen/ops/reflection_pad1d_meta.h>
#include <ATen/ops/reflection_pad3d_backward_meta.h>
#include <ATen/ops/reflection_pad3d_meta.h>
#include <ATen/ops/replication_pad1d_backward_meta.h>
#include <ATen/ops/replication_pad1d_meta.h>
#include <ATen/ops/replication_pad2d_meta.h>
#include <ATen/ops/replication_pad3d_meta.h>

#include "ops/structured.h"
#include "ops/torch_versions.h"
#include "ops/windows.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;

// `padding` begins with the last dimension; `whole` has the unpadded sizes.
std::vector<Stencil> stencils_of(Stencil::Kind kind, const Tensor& whole, IntArrayRef padding,
                                 bool is_backward) {
  std::vector<Stencil> stencils;
  for (auto k = static_cast<std::int64_t>(padding.size()) / 2 - 1; k >= 0; --k) {
    auto size = whole.size(whole.dim() - 1 - k);
    auto before = padding[static_cast<std::size_t>(2 * k)],
         after = padding[static_cast<std::size_t>(2 * k + 1)];
    stencils.push_back(
        {.kind = kind, .from = size, .to = size + before + after, .pad = before, .is_backward = is_backward});
  }
  return stencils;
}

template <Stencil::Kind kind>
void pad(auto& op, const Tensor& self, IntArrayRef padding) {
  window_sum(op.output(), self, stencils_of(kind, self, padding, false));
}
template <Stencil::Kind kind>
void pad_backward(auto& op, const Tensor& grad, const Tensor& self, IntArrayRef padding) {
  window_sum(op.output(), grad, stencils_of(kind, self, padding, true));
}

template <int spatial>
std::vector<std::int64_t> padded_sizes(const char* name, bool reflects, const Tensor& self,
                                       IntArrayRef padding) {
  check_padding<spatial>(self, padding);
  auto sizes = self.sizes().vec();
  for (std::size_t k = 0; k < spatial; ++k) {
    auto& size = sizes[sizes.size() - 1 - k];
    auto before = padding[2 * k], after = padding[2 * k + 1];
    TORCH_CHECK(!reflects || (before < size && after < size), "Argument #", 4 + 2 * k,
                ": Padding size should be less than the corresponding input dimension, but got: padding (",
                before, ", ", after, ") at dimension ", sizes.size() - 1 - k, " of input ", self.sizes());
    auto padded = size + before + after;
    TORCH_CHECK(padded >= 1, name, ": input ", self.sizes(), " is too small: a dimension of ", size,
                " padded by ", before, " and ", after, " gives ", padded);
    size = padded;
  }
  return sizes;
}

// Two dimensions reflected are the one case that PyTorch has no meta function for.
Tensor& reflection_pad2d_out(const Tensor& self, c10::SymIntArrayRef padding, Tensor& out) {
  auto guard = guard_for(self);
  check_one_device(self, out);
  auto amounts = C10_AS_INTARRAYREF_SLOW(padding);
  out.resize_(padded_sizes<2>("reflection_pad2d", true, self, amounts), self.suggest_memory_format());
  window_sum(out, self, stencils_of(Stencil::reflect, self, amounts, false));
  return out;
}
Tensor reflection_pad2d(const Tensor& self, c10::SymIntArrayRef padding) {
  auto guard = guard_for(self);
  auto out = at::empty({0}, self.options());
  return reflection_pad2d_out(self, padding, out);
}

template <Stencil::Kind kind, int spatial>
Tensor& backward_out(const Tensor& grad, const Tensor& self, c10::SymIntArrayRef padding, Tensor& grad_in) {
  auto guard = guard_for(grad, self);
  check_one_device(grad, self, grad_in);
  auto amounts = C10_AS_INTARRAYREF_SLOW(padding);
  auto expected = padded_sizes<spatial>("padding's backward", kind == Stencil::reflect, self, amounts);
  TORCH_CHECK(grad.sizes() == IntArrayRef(expected), "grad_output is of sizes ", grad.sizes(), ", expected ",
              expected);
  grad_in.resize_as_(self, self.suggest_memory_format());
  window_sum(grad_in, grad, stencils_of(kind, self, amounts, true));
  return grad_in;
}
template <Stencil::Kind kind, int spatial>
Tensor backward(const Tensor& grad, const Tensor& self, c10::SymIntArrayRef padding) {
  auto guard = guard_for(grad, self);
  auto grad_in = at::empty({0}, self.options());
  return backward_out<kind, spatial>(grad, self, padding, grad_in);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  namespace meta = at::meta;
#define PAD(name, kind) \
  structured<meta::structured_##name, KERNEL(pad<Stencil::kind>)>(m, #name, #name ".out")
#define PAD_BACKWARD(name, kind)                                                       \
  structured<meta::structured_##name##_backward, KERNEL(pad_backward<Stencil::kind>)>( \
      m, #name "_backward", #name "_backward.grad_input")
  PAD(reflection_pad1d, reflect);
  PAD(reflection_pad3d, reflect);
  PAD(replication_pad1d, replicate);
  PAD(replication_pad2d, replicate);
  PAD(replication_pad3d, replicate);
  PAD_BACKWARD(reflection_pad1d, reflect);
  PAD_BACKWARD(reflection_pad3d, reflect);
  PAD_BACKWARD(replication_pad1d, replicate);
  m.impl("reflection_pad2d", reflection_pad2d);
  m.impl("reflection_pad2d.out", reflection_pad2d_out);
  m.impl("reflection_pad2d_backward", backward<Stencil::reflect, 2>);
  m.impl("reflection_pad2d_backward.grad_input", backward_out<Stencil::reflect, 2>);
  m.impl("replication_pad2d_backward", backward<Stencil::replicate, 2>);
  m.impl("replication_pad2d_backward.grad_input", backward_out<Stencil::replicate, 2>);
  m.impl("replication_pad3d_backward", backward<Stencil::replicate, 3>);
  m.impl("replication_pad3d_backward.grad_input", backward_out<Stencil::replicate, 3>);
}

}  // namespace torch_xpu

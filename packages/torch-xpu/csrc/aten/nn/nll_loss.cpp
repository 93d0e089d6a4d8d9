// The negative log likelihood of chosen classes.
#include <ATen/core/Reduction.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/nll_loss_backward_meta.h>
#include <ATen/ops/nll_loss_forward_meta.h>

#include "ops/elementwise/elementwise.h"
#include "ops/reduce.h"
#include "ops/structured.h"
#include "xpu/fault.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using xpu::kernels::Elementwise;
using xpu::kernels::Reduction;
using MaybeTensor = const std::optional<Tensor>&;

// PyTorch computes both by this operator. A target out of range is an index of the operators it is made of.
constexpr auto* op_name = "nll_loss or cross_entropy";

// The classes' dimension is the second, or the only one.
std::int64_t class_dim(const Tensor& self) {
  return self.dim() == 1 ? 0 : 1;
}

// The targets with class 0 in place of those ignored, and the weight of each: 0 for those.
struct Chosen {
  Tensor classes, weights;

  Chosen(const Tensor& self, const Tensor& target, MaybeTensor weight, std::int64_t ignored) {
    static const auto& safe =
        *new Elementwise({.name = "nll_loss_classes", .outputs = {"a0 == p0 ? (T)0 : a0"}, .scalars = 1});
    static const auto& ones =
        *new Elementwise({.name = "nll_loss_ones", .outputs = {"a0 == p0 ? 0 : 1"}, .scalars = 1});
    static const auto& masked = *new Elementwise({.name = "nll_loss_weights",
                                                  .outputs = {"a1 == (i64)p0 ? (T)0 : a0"},
                                                  .inputs = 2,
                                                  .scalars = 1,
                                                  .unconverted_inputs = 2});
    // At most 2^24 is exact in the scalars of a float kernel; a class is.
    auto flat = target.reshape({-1});
    classes = at::empty(flat.sizes(), flat.options().dtype(at::kLong));
    elementwise(safe, {classes}, {flat}, {ignored}, at::kLong);
    auto type = statistics_type(self);
    weights = at::empty(flat.sizes(), self.options().dtype(type));
    if (given(weight))
      elementwise(masked, {weights}, {weight->index_select(0, classes), flat}, {ignored}, type);
    else
      elementwise(ones, {weights}, {flat}, {ignored}, at::kLong);
    classes = classes.view(target.sizes());
    weights = weights.view(target.sizes());
  }
};

void forward(const Tensor& out, const Tensor& total, const Tensor& self, const Tensor& target,
             MaybeTensor weight, std::int64_t how, std::int64_t ignored) {
  static const auto& each =
      *new Elementwise({.name = "nll_loss", .outputs = {"a1 == (T)0 ? (T)0 : -a0 * a1"}, .inputs = 2});
  static const auto make = [](const char* name, const char* end) {
    return new Reduction({.name = name,
                          .accumulators = {{"T", "0"}, {"T", "0"}},
                          .map = {"a1 == (T)0 ? (T)0 : -a0 * a1", "a1"},
                          .combine = "s0 += r0; s1 += r1;",
                          .outputs = {end, "s1"},
                          .inputs = 2});
  };
  xpu::FaultNameScope name(op_name);
  static const Reduction *sum = make("nll_loss_sum", "s0"), *mean = make("nll_loss_mean", "s0 / s1");
  Chosen chosen(self, target, weight, ignored);
  auto dim = class_dim(self);
  auto type = chosen.weights.scalar_type();
  auto picked = self.gather(dim, chosen.classes.unsqueeze(dim)).squeeze(dim);
  if (how == at::Reduction::None) {
    elementwise(each, {out}, {picked, chosen.weights}, {}, type);
    total.zero_();
  } else {
    reduce(how == at::Reduction::Mean ? *mean : *sum, {out, total}, {picked, chosen.weights}, std::nullopt,
           {}, type);
  }
}

void backward(const Tensor& out, const Tensor& grad, const Tensor& self, const Tensor& target,
              MaybeTensor weight, std::int64_t how, std::int64_t ignored, const Tensor& total) {
  static const auto& share =
      *new Elementwise({.name = "nll_loss_backward", .outputs = {"-a0 * a1"}, .inputs = 2});
  static const auto& share_of_mean = *new Elementwise(
      {.name = "nll_loss_mean_backward", .outputs = {"a1 == (T)0 ? (T)0 : -a0 * a1 / a2"}, .inputs = 3});
  xpu::FaultNameScope name(op_name);
  out.zero_();
  if (self.numel() == 0 || target.numel() == 0) return;
  Chosen chosen(self, target, weight, ignored);
  auto dim = class_dim(self);
  auto values = at::empty(target.sizes(), out.options());
  auto type = chosen.weights.scalar_type();
  if (how == at::Reduction::Mean)
    elementwise(share_of_mean, {values}, {grad, chosen.weights, total}, {}, type);
  else
    elementwise(share, {values}, {grad, chosen.weights}, {}, type);
  out.scatter_(dim, chosen.classes.unsqueeze(dim), values.unsqueeze(dim));
}

constexpr auto forward_kernel = [](auto& op, const Tensor& self, const Tensor& target, MaybeTensor weight,
                                   std::int64_t how, std::int64_t ignored) {
  forward(op.output(0), op.output(1), self, target, weight, how, ignored);
};
constexpr auto backward_kernel = [](auto& op, const Tensor& grad, const Tensor& self, const Tensor& target,
                                    MaybeTensor weight, std::int64_t how, std::int64_t ignored,
                                    const Tensor& total) {
  backward(op.output(), grad, self, target, weight, how, ignored, total);
};

void check_image(const Tensor& self, const Tensor& target, MaybeTensor weight) {
  TORCH_CHECK(target.dim() == 3, "only batches of spatial targets supported (3D tensors)",
              " but got targets of size: : ", target.sizes());
  TORCH_CHECK(self.dim() == 4,
              "only batches of spatial inputs supported (4D tensors), but got input of size: ", self.sizes());
  TORCH_CHECK(
      self.size(0) == target.size(0) && self.size(2) == target.size(1) && self.size(3) == target.size(2),
      "size mismatch (got input: ", self.sizes(), " , target: ", target.sizes());
  TORCH_CHECK(!given(weight) || weight->numel() == self.size(1),
              "weight tensor should be defined either for all or no classes");
}

using TwoOut = std::tuple<Tensor&, Tensor&>;
TwoOut image_out(const Tensor& self, const Tensor& target, MaybeTensor weight, std::int64_t how,
                 std::int64_t ignored, Tensor& out, Tensor& total) {
  auto guard = guard_for(self, target);
  check_one_device(self, target, weight, out, total);
  check_image(self, target, weight);
  at::native::resize_output(out, how == at::Reduction::None ? target.sizes() : at::IntArrayRef{});
  at::native::resize_output(total, {});
  forward(out, total, self, target, weight, how, ignored);
  return {out, total};
}
std::tuple<Tensor, Tensor> image(const Tensor& self, const Tensor& target, MaybeTensor weight,
                                 std::int64_t how, std::int64_t ignored) {
  auto guard = guard_for(self);
  auto out = at::empty({0}, self.options()), total = at::empty({}, self.options());
  image_out(self, target, weight, how, ignored, out, total);
  return {out, total};
}
Tensor& image_backward_out(const Tensor& grad, const Tensor& self, const Tensor& target, MaybeTensor weight,
                           std::int64_t how, std::int64_t ignored, const Tensor& total, Tensor& out) {
  auto guard = guard_for(grad, self, target);
  check_one_device(grad, self, target, weight, total, out);
  check_image(self, target, weight);
  at::native::resize_output(out, self.sizes());
  backward(out, grad, self, target, weight, how, ignored, total);
  return out;
}
Tensor image_backward(const Tensor& grad, const Tensor& self, const Tensor& target, MaybeTensor weight,
                      std::int64_t how, std::int64_t ignored, const Tensor& total) {
  auto guard = guard_for(self);
  auto out = at::empty_like(self);
  return image_backward_out(grad, self, target, weight, how, ignored, total, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_nll_loss_forward, forward_kernel, 2>(m, "nll_loss_forward",
                                                                       "nll_loss_forward.output");
  structured<at::meta::structured_nll_loss_backward, backward_kernel>(m, "nll_loss_backward",
                                                                      "nll_loss_backward.grad_input");
  m.impl("nll_loss2d_forward", image);
  m.impl("nll_loss2d_forward.output", image_out);
  m.impl("nll_loss2d_backward", image_backward);
  m.impl("nll_loss2d_backward.grad_input", image_backward_out);
}

}  // namespace torch_xpu

// Draws that take a number of tries: gamma, Dirichlet, Poisson and binomial, and the derivatives of the first
// two.
#include <ATen/ExpandUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <limits>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/kernels.h"
#include "ops/random.h"
#include "ops/tensor.h"
#include "xpu/device.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using MaybeGenerator = std::optional<at::Generator>;

// Numbers that an element may use, as in kernels/distributions.sycl: 64 blocks of four.
constexpr std::uint64_t max_numbers = 256;

std::string types_of(const Tensor& t, const char* name) {
  TORCH_CHECK_NOT_IMPLEMENTED(at::isFloatingType(t.scalar_type()), "\"", name, "\" not implemented for '",
                              t.scalar_type(), "'");
  auto type = dtype_of(t.scalar_type());
  return xpu::join("#include <xpu/convert.h>\nusing V = ", stored_type(type),
                   ";\nusing T = ", math_type(type), ";\n");
}

xpu::NdRange an_item_each(const Tensor& t) {
  auto group = static_cast<std::int64_t>(xpu::device_info(t.get_device()).sub_group_size);
  return xpu::NdRange::linear(static_cast<std::size_t>((t.numel() + group - 1) / group),
                              static_cast<std::size_t>(group));
}

// `sample` is of the parameters a[e] and b[e].
Tensor draw(const char* name, const char* sample, const Tensor& a, const Tensor& b,
            const MaybeGenerator& generator) {
  auto guard = guard_for(a);
  auto out = at::empty_like(a, at::MemoryFormat::Contiguous);
  auto head = types_of(a, name) + "#define SAMPLE " + sample + "\n";
  if (out.numel() == 0) return out;
  auto random = take_random(generator, a, max_numbers);
  auto first = a.contiguous(), second = b.contiguous();
  translate_errors([&] {
    xpu::launch(stream_of(a), kernel_with(a.get_device(), head, distributions_source, "draw"),
                an_item_each(a),
                xpu::args(out.mutable_data_ptr(), first.const_data_ptr(), second.const_data_ptr(),
                          out.numel(), random.seed, random.offset / 4, random.replay_state));
  });
  return out;
}

Tensor poisson(const Tensor& rate, MaybeGenerator generator) {
  return draw("poisson", "poisson_draw(to<T>(a[e]), r)", rate, rate, generator);
}

Tensor binomial(const Tensor& count, const Tensor& chance, MaybeGenerator generator) {
  check_one_device(count, chance);
  TORCH_CHECK_VALUE(count.scalar_type() == chance.scalar_type(),
                    "binomial: expected count and prob of one dtype, got ", count.scalar_type(), " and ",
                    chance.scalar_type());
  auto both = at::expand_outplace(count, chance, "binomial");
  return draw("binomial", "binomial_draw(to<T>(a[e]), to<T>(b[e]), r)", *std::get<0>(both),
              *std::get<1>(both), generator);
}

// No draw is 0 or 1: they would be outside of the distribution.
double min_positive(const Tensor& t) {
  switch (t.scalar_type()) {
    case at::kHalf:
      return 0x1p-14;
    case at::kDouble:
      return std::numeric_limits<double>::min();
    default:
      return std::numeric_limits<float>::min();
  }
}
double max_below_one(const Tensor& t) {
  switch (t.scalar_type()) {
    case at::kHalf:
      return 1 - 0x1p-11;
    case at::kBFloat16:
      return 1 - 0x1p-8;
    case at::kDouble:
      return 1 - 0x1p-53;
    default:
      return 1 - 0x1p-24;
  }
}

Tensor standard_gamma(const Tensor& shape, MaybeGenerator generator) {
  return draw("gamma", "gamma_draw(to<T>(a[e]), r)", shape, shape, generator).clamp_min_(min_positive(shape));
}

Tensor sample_dirichlet(const Tensor& shape, MaybeGenerator generator) {
  auto draws = standard_gamma(shape, generator);
  auto sums = draws.sum(-1, true);
  return draws.div_(sums).clamp_(min_positive(shape), max_below_one(shape));
}

Tensor gradients(const char* name, at::ArrayRef<Tensor> inputs) {
  auto guard = guard_for(inputs[0]);
  auto head = types_of(inputs[0], name) + "#define PANELS " +
              (inputs[0].scalar_type() == at::kDouble ? "12" : "4") + "\n";
  std::vector<Tensor> dense;
  for (auto& t : at::expand_outplace(inputs)) dense.push_back(t.to(inputs[0].scalar_type()).contiguous());
  auto out = at::empty_like(dense[0]);
  if (out.numel() == 0) return out;
  translate_errors([&] {
    xpu::launch(stream_of(out), kernel_with(out.get_device(), head, distribution_gradients_source, name),
                an_item_each(out),
                xpu::args(out.mutable_data_ptr(), dense[0].const_data_ptr(), dense[1].const_data_ptr(),
                          dense.back().const_data_ptr(), out.numel()));
  });
  return out;
}

Tensor standard_gamma_grad(const Tensor& shape, const Tensor& drawn) {
  check_one_device(shape, drawn);
  return gradients("gamma_gradients", {shape, drawn});
}
Tensor dirichlet_grad(const Tensor& drawn, const Tensor& shape, const Tensor& total) {
  check_one_device(drawn, shape, total);
  return gradients("beta_gradients", {drawn, shape, total});
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("poisson", poisson);
  m.impl("binomial", binomial);
  m.impl("_standard_gamma", standard_gamma);
  m.impl("_standard_gamma_grad", standard_gamma_grad);
  m.impl("_sample_dirichlet", sample_dirichlet);
  m.impl("_dirichlet_grad", dirichlet_grad);
}

}  // namespace torch_xpu

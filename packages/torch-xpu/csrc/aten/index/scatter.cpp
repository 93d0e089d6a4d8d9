// gather and the scatters.
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/gather_meta.h>
#include <ATen/ops/scatter_add_meta.h>
#include <ATen/ops/scatter_meta.h>
#include <ATen/ops/scatter_reduce_meta.h>

#include "device/errors.h"
#include "ops/elementwise/scalar_fits.h"
#include "ops/indexing.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using xpu::kernels::Combine;
using xpu::kernels::combiner;

void gather(auto& op, const Tensor& self, std::int64_t dim, const Tensor& index, bool) {
  if (index.numel() == 0) return;
  translate_errors([&] {
    xpu::kernels::gather(stream_of(self), line_view(op.output()), line_view(self), wrapped(dim, self),
                         line_view(index));
  });
}

void scatter_into(const Tensor& out, std::int64_t dim, const Tensor& index, const Tensor& src, Combine how) {
  if (index.numel() == 0) return;
  translate_errors([&] {
    xpu::kernels::scatter(stream_of(out), line_view(out), wrapped(dim, out), line_view(index), line_view(src),
                          combiner(how), index_options());
  });
}

void scatter_into(const Tensor& out, std::int64_t dim, const Tensor& index, const xpu::Scalar& value,
                  Combine how) {
  if (index.numel() == 0) return;
  translate_errors([&] {
    xpu::kernels::scatter(stream_of(out), line_view(out), wrapped(dim, out), line_view(index), value,
                          combiner(how), index_options());
  });
}

Combine combine_named(std::string_view reduce) {
  if (reduce == "add" || reduce == "sum") return Combine::add;
  if (reduce == "multiply" || reduce == "prod") return Combine::multiply;
  if (reduce == "amax") return Combine::maximum;
  TORCH_CHECK(reduce == "amin", "scatter: reduce is \"", reduce,
              "\", expected one of sum, prod, mean, amax, amin");
  return Combine::minimum;
}

void scatter_src(auto& op, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  begin_with(op.output(), self);
  scatter_into(op.output(), dim, index, src, Combine::replace);
}

void scatter_value(auto& op, const Tensor& self, std::int64_t dim, const Tensor& index,
                   const at::Scalar& value) {
  check_fits(value, self.scalar_type());
  begin_with(op.output(), self);
  scatter_into(op.output(), dim, index, scalar_of(value), Combine::replace);
}

void scatter_reduce(auto& op, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src,
                    std::string_view reduce) {
  begin_with(op.output(), self);
  scatter_into(op.output(), dim, index, src, combine_named(reduce));
}

void scatter_value_reduce(auto& op, const Tensor& self, std::int64_t dim, const Tensor& index,
                          const at::Scalar& value, std::string_view reduce) {
  check_fits(value, self.scalar_type());
  begin_with(op.output(), self);
  scatter_into(op.output(), dim, index, scalar_of(value), combine_named(reduce));
}

void scatter_add(auto& op, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  begin_with(op.output(), self);
  scatter_into(op.output(), dim, index, src, Combine::add);
}

void scatter_reduce_two(auto& op, const Tensor& self, std::int64_t dim, const Tensor& index,
                        const Tensor& src, std::string_view reduce, bool include_self) {
  auto& out = op.output();
  begin_with(out, self);
  if (index.numel() == 0) return;
  if (reduce == "mean") {
    translate_errors([&] {
      xpu::kernels::scatter_mean(stream_of(out), line_view(out), wrapped(dim, out), line_view(index),
                                 line_view(src), include_self, index_options());
    });
    return;
  }
  auto how = combine_named(reduce);
  // Without what was there, elements that something comes to begin from what changes nothing.
  if (!include_self) scatter_into(out, dim, index, identity_of(how, out.scalar_type()), Combine::replace);
  scatter_into(out, dim, index, src, how);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_gather, KERNEL(gather)>(m, "gather", "gather.out");
  structured<at::meta::structured_scatter_src, KERNEL(scatter_src)>(m, "scatter.src", "scatter.src_out",
                                                                    "scatter_.src");
  structured<at::meta::structured_scatter_value, KERNEL(scatter_value)>(
      m, "scatter.value", "scatter.value_out", "scatter_.value");
  structured<at::meta::structured_scatter_reduce, KERNEL(scatter_reduce)>(
      m, "scatter.reduce", "scatter.reduce_out", "scatter_.reduce");
  structured<at::meta::structured_scatter_value_reduce, KERNEL(scatter_value_reduce)>(
      m, "scatter.value_reduce", "scatter.value_reduce_out", "scatter_.value_reduce");
  structured<at::meta::structured_scatter_add, KERNEL(scatter_add)>(m, "scatter_add", "scatter_add.out",
                                                                    "scatter_add_");
  structured<at::meta::structured_scatter_reduce_two, KERNEL(scatter_reduce_two)>(
      m, "scatter_reduce.two", "scatter_reduce.two_out", "scatter_reduce_.two");
}

}  // namespace torch_xpu

// Indexing along one dimension: index_select, index_add, index_copy, index_reduce, index_fill_.
#include <ATen/MemoryOverlap.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_add_meta.h>
#include <ATen/ops/index_copy_meta.h>
#include <ATen/ops/index_reduce_meta.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include "device/errors.h"
#include "ops/elementwise/minifloat.h"
#include "ops/elementwise/scalar_fits.h"
#include "ops/indexing.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using xpu::kernels::Combine;
using xpu::kernels::combiner;

void combine(const Tensor& out, std::int64_t dim, const Tensor& index, const Tensor& src, Combine how) {
  if (index.numel() == 0 || out.numel() == 0) return;
  translate_errors([&] {
    xpu::kernels::index_combine(stream_of(out), line_view(out), wrapped(dim, out), line_view(index),
                                line_view(src), combiner(how), index_options());
  });
}

void index_add(auto& op, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source,
               const at::Scalar& alpha) {
  check_fits(alpha, self.scalar_type());
  begin_with(op.output(), self);
  combine(op.output(), dim, index, alpha.equal(1) ? source : at::mul(source, alpha).to(source.scalar_type()),
          Combine::add);
}

void index_copy(auto& op, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source) {
  begin_with(op.output(), self);
  combine(op.output(), dim, index, source, Combine::replace);
}

// One value in the shape of what index and `self` choose.
Tensor spread(const at::Scalar& value, const Tensor& self, std::int64_t dim, const Tensor& index) {
  auto sizes = self.sizes().vec();
  if (!sizes.empty()) sizes[static_cast<std::size_t>(dim)] = index.numel();
  return at::empty({}, self.options()).fill_(value).expand(sizes);
}

at::Scalar scalar_of_identity(Combine how, at::ScalarType dtype) {
  auto value = identity_of(how, dtype);
  if (at::isFloatingType(dtype)) return value.real();
  return static_cast<std::int64_t>(value.integer_bits());
}

void index_reduce(auto& op, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source,
                  std::string_view reduce, bool include_self) {
  auto& out = op.output();
  begin_with(out, self);
  if (index.numel() == 0 || out.numel() == 0) return;
  dim = wrapped(dim, self);
  auto how = reduce == "prod"   ? Combine::multiply
             : reduce == "amax" ? Combine::maximum
             : reduce == "amin" ? Combine::minimum
                                : Combine::add;
  if (!include_self)
    combine(out, dim, index, spread(scalar_of_identity(how, out.scalar_type()), out, dim, index),
            Combine::replace);
  combine(out, dim, index, source, how);
  if (reduce == "mean") {
    auto counts = include_self ? at::ones_like(out) : at::zeros_like(out);
    combine(counts, dim, index, spread(1, out, dim, index), Combine::add);
    counts.masked_fill_(counts.eq(0), 1);
    if (at::isIntegralType(out.scalar_type(), true))
      const_cast<Tensor&>(out).div_(counts, "floor");
    else
      const_cast<Tensor&>(out).div_(counts);
  }
}

void select_into(const Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index) {
  if (out.numel() == 0) return;
  TORCH_CHECK_INDEX(self.numel() > 0, "index_select(): index out of range for a dimension of size 0");
  translate_errors([&] {
    xpu::kernels::index_select(stream_of(self), line_view(with_runtime_dtype(out)),
                               line_view(with_runtime_dtype(self)), wrapped(dim, self), line_view(index),
                               index_options());
  });
}

at::DimVector selected_sizes(const Tensor& self, std::int64_t dim, const Tensor& index) {
  TORCH_CHECK_INDEX(index.dim() <= 1,
                    "index_select(): Index is supposed to be a vector, but got dim: ", index.dim());
  TORCH_CHECK(index.scalar_type() == at::kLong || index.scalar_type() == at::kInt,
              "index_select(): Expected dtype int32 or int64 for index but got: ", index.scalar_type());
  at::DimVector sizes(self.sizes());
  auto d = wrapped(dim, self);
  TORCH_CHECK(self.dim() > 0 || index.numel() == 1,
              "index_select(): Index to scalar can have only 1 value, got ", index.numel(), " value(s)");
  if (self.dim() > 0) sizes[static_cast<std::size_t>(d)] = index.numel();
  return sizes;
}

Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index) {
  auto guard = guard_for(self, index);
  check_one_device(self, index);
  auto out = at::empty(selected_sizes(self, dim, index), self.options());
  select_into(out, self, dim, index);
  return out;
}

Tensor& index_select_out(const Tensor& self, std::int64_t dim, const Tensor& index, Tensor& out) {
  auto guard = guard_for(self, index);
  check_one_device(self, index, out);
  TORCH_CHECK(self.scalar_type() == out.scalar_type(),
              "index_select(): self and result must have the same scalar type");
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, index);
  out.resize_(selected_sizes(self, dim, index));
  select_into(out, self, dim, index);
  return out;
}

Tensor& index_fill_scalar(Tensor& self, std::int64_t dim, const Tensor& index, const at::Scalar& value);

// Elements of an expanded tensor that are one place in memory take the value together.
void index_fill_expanded(const Tensor& self, std::int64_t dim, const Tensor& index, const at::Scalar& value) {
  auto place = each_once(self);
  if (place.size(dim) == self.size(dim)) {
    index_fill_scalar(place, dim, index, value);
    return;
  }
  // Any index fills the one place; a line of the dimension's size finds those out of range.
  auto line = at::empty({self.size(dim)}, self.options());
  index_fill_scalar(line, 0, index, value);
  place.fill_(value);
}

Tensor& index_fill_scalar(Tensor& self, std::int64_t dim, const Tensor& index, const at::Scalar& value) {
  auto guard = guard_for(self, index);
  check_one_device(self, index);
  TORCH_CHECK_INDEX(index.scalar_type() == at::kLong, "index_fill_(): Expected dtype int64 for index.");
  TORCH_CHECK(index.dim() <= 1, "Index has to be a vector/scalar");
  TORCH_CHECK(at::isComplexType(self.scalar_type()) || !value.isComplex(),
              "index_fill_(): Converting complex Scalar to non-complex type is not supported");
  at::assert_no_overlap(self, index);
  auto d = wrapped(dim, self);
  bool expanded = at::has_internal_overlap(self) == at::MemOverlap::Yes;
  if (expanded)
    TORCH_WARN(
        "Use of index_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing "
        "this operation.");
  if (index.numel() == 0 || self.numel() == 0) return self;
  if (expanded) {
    index_fill_expanded(self, d, index, value);
    return self;
  }
  auto values = spread(value, self, d, index);
  // As in Python, negative indices count from the end.
  std::vector<xpu::Tensor> indices(static_cast<std::size_t>(d) + 1);
  indices.back() = line_view(index);
  translate_errors([&] {
    xpu::kernels::index_put(stream_of(self), line_view(self), indices, line_view(values),
                            combiner(Combine::replace), index_options());
  });
  return self;
}

Tensor& index_fill_tensor(Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value) {
  TORCH_CHECK(value.dim() == 0,
              "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
              " dimension(s).");
  return index_fill_scalar(self, dim, index, value.item());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_index_add, KERNEL(index_add)>(m, "index_add", "index_add.out",
                                                                "index_add_");
  structured<at::meta::structured_index_copy, KERNEL(index_copy)>(m, "index_copy", "index_copy.out",
                                                                  "index_copy_");
  structured<at::meta::structured_index_reduce, KERNEL(index_reduce)>(m, "index_reduce", "index_reduce.out",
                                                                      "index_reduce_");
  m.impl("index_select", index_select);
  m.impl("index_select.out", index_select_out);
  m.impl("index_fill_.int_Scalar", index_fill_scalar);
  m.impl("index_fill_.int_Tensor", index_fill_tensor);
}

}  // namespace torch_xpu

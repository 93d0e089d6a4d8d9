// Elements chosen by a mask.
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/elementwise/minifloat.h"
#include "ops/elementwise/scalar_fits.h"
#include "ops/tensor.h"
#include "xpu/kernels/elementwise.h"
#include "xpu/kernels/fill.h"
#include "xpu/kernels/select.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using xpu::kernels::Selection;

void check_mask(const char* name, const Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == at::kBool, name, " only supports boolean masks, but got mask with dtype ",
              mask.scalar_type());
}

// An element of an expanded tensor is filled where the mask chooses any of the places that show it.
template <class Value>
void masked_fill_expanded(const Tensor& self, const Tensor& mask, const Value& value) {
  TORCH_WARN(
      "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing "
      "this operation.");
  auto once = each_once(self), chosen = mask.expand_as(self);
  for (std::int64_t d = 0; d < self.dim(); ++d)
    if (once.size(d) != self.size(d)) chosen = chosen.any(d, true);
  once.masked_fill_(chosen, value);
}

Tensor& masked_fill_scalar(Tensor& self, const Tensor& mask, const at::Scalar& value) {
  auto guard = guard_for(self, mask);
  check_one_device(self, mask);
  check_mask("masked_fill", mask);
  check_fits(value, self.scalar_type());
  if (at::has_internal_overlap(self) == at::MemOverlap::Yes) {
    masked_fill_expanded(self, mask, value);
    return self;
  }
  at::assert_no_partial_overlap(self, mask);
  auto spread = at::expand_inplace(self, mask, "masked_fill_");
  if (self.numel() == 0) return self;
  static const auto& fill = *new xpu::kernels::Elementwise({.name = "masked_fill",
                                                            .outputs = {"a1 ? p0 : a0"},
                                                            .inputs = 2,
                                                            .scalars = 1,
                                                            .unconverted_inputs = 2});
  auto out = view_of(self);
  const xpu::Tensor inputs[] = {out, view_of(*spread)};
  const xpu::Scalar number = scalar_of(value);
  auto type = self.scalar_type() == at::kBool ? xpu::DType::u8 : out.dtype;
  translate_errors([&] { fill(stream_of(self), std::span(&out, 1), inputs, std::span(&number, 1), type); });
  return self;
}

Tensor& masked_fill_tensor(Tensor& self, const Tensor& mask, const Tensor& value) {
  TORCH_CHECK(value.dim() == 0,
              "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
              " dimension(s).");
  if (value.is_cpu()) return masked_fill_scalar(self, mask, value.item());
  auto guard = guard_for(self, mask, value);
  check_one_device(self, mask, value);
  check_mask("masked_fill", mask);
  if (at::has_internal_overlap(self) == at::MemOverlap::Yes) {
    masked_fill_expanded(self, mask, value);
    return self;
  }
  at::assert_no_partial_overlap(self, mask);
  auto spread = at::expand_inplace(self, mask, "masked_fill_");
  if (self.numel() == 0) return self;
  static const auto& fill = *new xpu::kernels::Elementwise(
      {.name = "masked_fill", .outputs = {"a1 ? a2 : a0"}, .inputs = 3, .unconverted_inputs = 2});
  auto out = view_of(self);
  const xpu::Tensor inputs[] = {out, view_of(*spread), view_of(value)};
  auto type = self.scalar_type() == at::kBool ? xpu::DType::u8 : out.dtype;
  translate_errors([&] { fill(stream_of(self), std::span(&out, 1), inputs, {}, type); });
  return self;
}

template <class Make>
void select_into(const Tensor& self, const Tensor& mask, Make make) {
  check_mask("masked_select", mask);
  auto [chooser, values] = at::expand_outplace(mask, self);
  translate_errors([&] {
    Selection selection(stream_of(self), view_of(*chooser));
    const Tensor& out = make(selection.count());
    if (out.numel()) selection.gather(view_of(with_runtime_dtype(out)), view_of(with_runtime_dtype(*values)));
  });
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  auto guard = guard_for(self, mask);
  check_one_device(self, mask);
  Tensor out;
  select_into(self, mask, [&](std::int64_t n) { return out = at::empty({n}, self.options()); });
  return out;
}

Tensor& masked_select_out(const Tensor& self, const Tensor& mask, Tensor& out) {
  auto guard = guard_for(self, mask);
  check_one_device(self, mask, out);
  TORCH_CHECK(self.scalar_type() == out.scalar_type(),
              "masked_select(): self and result must have the same scalar type");
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, mask);
  select_into(self, mask, [&](std::int64_t n) {
    out.resize_({n});
    return out;
  });
  return out;
}

Tensor& masked_scatter_(Tensor& self, const Tensor& mask, const Tensor& source) {
  auto guard = guard_for(self, mask, source);
  check_one_device(self, mask, source);
  TORCH_CHECK(self.scalar_type() == source.scalar_type(),
              "masked_scatter_: expected self and source to have same dtypes but got ", self.scalar_type(),
              " and ", source.scalar_type());
  check_mask("masked_scatter_", mask);
  at::assert_no_internal_overlap(self);
  at::assert_no_partial_overlap(self, mask);
  auto spread = at::expand_inplace(self, mask, "masked_scatter_");
  if (self.numel() == 0) return self;
  auto apart = self.is_alias_of(source) ? source.clone() : source;
  translate_errors(
      [&] { Selection(stream_of(self), view_of(*spread)).scatter(view_of(self), view_of(apart)); });
  return self;
}

Tensor& nonzero_out(const Tensor& self, Tensor& out) {
  auto guard = guard_for(self);
  check_one_device(self, out);
  TORCH_CHECK(out.scalar_type() == at::kLong, "Expected object of scalar type ", at::kLong,
              " as out, but got ", out.scalar_type());
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  translate_errors([&] {
    Selection selection(stream_of(self), view_of(self));
    out.resize_({selection.count(), self.dim()});
    if (out.numel()) selection.positions(view_of(out));
  });
  return out;
}

Tensor nonzero(const Tensor& self) {
  auto guard = guard_for(self);
  Tensor out;
  translate_errors([&] {
    Selection selection(stream_of(self), view_of(self));
    // A column for each dimension, so that the columns are dense: advanced indexing takes them one by one.
    out = at::empty({self.dim(), selection.count()}, self.options().dtype(at::kLong)).t();
    if (out.numel()) selection.positions(view_of(out));
  });
  return out;
}

Tensor& nonzero_static_out(const Tensor& self, c10::SymInt size, std::int64_t fill, Tensor& out) {
  auto guard = guard_for(self);
  check_one_device(self, out);
  auto rows = size.expect_int();
  TORCH_CHECK(out.scalar_type() == at::kLong, "nonzero_static: Expected out tensor to have scalar type ",
              at::kLong, " but got ", out.scalar_type());
  TORCH_CHECK(rows >= 0, "nonzero_static: 'size' must be an non-negative integer");
  out.resize_({rows, self.dim()});
  out.fill_(fill);
  if (out.numel() && self.numel())
    translate_errors([&] { Selection(stream_of(self), view_of(self)).positions(view_of(out)); });
  return out;
}

Tensor nonzero_static(const Tensor& self, c10::SymInt size, std::int64_t fill) {
  auto guard = guard_for(self);
  auto out = at::empty({0, self.dim()}, self.options().dtype(at::kLong));
  return nonzero_static_out(self, size, fill, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("masked_fill_.Scalar", masked_fill_scalar);
  m.impl("masked_fill_.Tensor", masked_fill_tensor);
  m.impl("masked_select", masked_select);
  m.impl("masked_select.out", masked_select_out);
  m.impl("masked_scatter_", masked_scatter_);
  m.impl("nonzero", nonzero);
  m.impl("nonzero.out", nonzero_out);
  m.impl("nonzero_static", nonzero_static);
  m.impl("nonzero_static.out", nonzero_static_out);
}

}  // namespace torch_xpu

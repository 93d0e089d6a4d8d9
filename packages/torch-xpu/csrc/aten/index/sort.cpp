// Sorted elements, and those chosen by their rank.
#include <ATen/TensorOperators.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/NonEmptyUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cummax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/sort_meta.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/topk_meta.h>
#include <ATen/ops/where.h>

#include <limits>

#include "device/errors.h"
#include "ops/structured.h"
#include "ops/tensor.h"
#include "xpu/kernels/sort.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using Two = std::tuple<Tensor, Tensor>;
using TwoOut = std::tuple<Tensor&, Tensor&>;

// Every sort is stable.
constexpr auto sort_kernel = [](auto& op, const Tensor& self, std::optional<bool>, std::int64_t dim,
                                bool descending) {
  if (self.numel() == 0) return;
  translate_errors([&] {
    xpu::kernels::sort(stream_of(self), view_of(op.output(0)), view_of(op.output(1)), view_of(self),
                       static_cast<int>(at::maybe_wrap_dim(dim, self.dim())), {.descending = descending});
  });
};

constexpr auto topk_kernel = [](auto& op, const Tensor& self, std::int64_t k, std::int64_t dim, bool largest,
                                bool sorted) {
  if (op.output(0).numel() == 0) return;
  translate_errors([&] {
    xpu::kernels::topk(stream_of(self), view_of(op.output(0)), view_of(op.output(1)), view_of(self), k,
                       static_cast<int>(at::maybe_wrap_dim(dim, self.dim())),
                       {.largest = largest, .sorted = sorted});
  });
};

void check_dim(const char* name, const Tensor& self, std::int64_t dim) {
  TORCH_CHECK_INDEX(self.dim() == 0 || self.size(dim) > 0, name, "(): Expected reduction dim ", dim,
                    " to have non-zero size.");
}

TwoOut store(Two made, bool keepdim, std::int64_t dim, Tensor& values, Tensor& indices) {
  auto put = [&](Tensor& to, Tensor from) {
    check_type(to, from.scalar_type());
    if (!keepdim && from.dim()) from = from.squeeze(dim);
    at::native::resize_output(to, from.sizes());
    to.copy_(from);
  };
  put(values, std::get<0>(made));
  put(indices, std::get<1>(made));
  return {values, indices};
}

TwoOut kthvalue(const Tensor& self, std::int64_t k, std::int64_t dim, bool keepdim, Tensor& values,
                Tensor& indices) {
  auto guard = guard_for(self);
  check_one_device(self, values, indices);
  dim = at::maybe_wrap_dim(dim, self.dim());
  check_dim("kthvalue", self, dim);
  auto length = self.dim() ? self.size(dim) : 1;
  TORCH_CHECK(k >= 1 && k <= length, "kthvalue(): selected number k out of range for dimension ", dim);
  auto [v, i] = at::topk(self, k, dim, false, true);
  auto last = [&](const Tensor& t) { return t.dim() ? t.narrow(dim, k - 1, 1) : t; };
  return store({last(v), last(i)}, keepdim, dim, values, indices);
}

// NaNs are the greatest. With `ignore` they do not count; otherwise one of them makes the median NaN.
Two median_along(const Tensor& self, std::int64_t dim, bool ignore) {
  auto whole = self.dim() ? self : self.view({1});
  auto [v, i] = at::sort(whole, dim);
  auto n = whole.size(dim);
  Two found;
  if (at::isFloatingType(self.scalar_type())) {
    auto numbers = v.eq(v).sum(dim, true);
    auto rank = ignore ? (numbers - 1).clamp_min(0).floor_divide(2)
                       : at::where(numbers.lt(n), numbers, (n - 1) / 2).to(at::kLong);
    found = {at::gather(v, dim, rank), at::gather(i, dim, rank)};
  } else {
    found = {v.narrow(dim, (n - 1) / 2, 1), i.narrow(dim, (n - 1) / 2, 1)};
  }
  if (!self.dim())
    return {std::get<0>(found).reshape(at::IntArrayRef{}), std::get<1>(found).reshape(at::IntArrayRef{})};
  return found;
}

template <bool ignore>
TwoOut median_out(const Tensor& self, std::int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  auto guard = guard_for(self);
  check_one_device(self, values, indices);
  dim = at::maybe_wrap_dim(dim, self.dim());
  check_dim("median", self, dim);
  return store(median_along(self, dim, ignore), keepdim, dim, values, indices);
}
template <bool ignore>
Tensor median(const Tensor& self) {
  auto guard = guard_for(self);
  if (self.numel() == 0) {
    auto none = at::empty({}, self.options());
    return at::isFloatingType(self.scalar_type()) ? none.fill_(std::numeric_limits<double>::quiet_NaN())
                                                  : none.zero_();
  }
  return std::get<0>(median_along(self.reshape({-1}), 0, ignore)).reshape(at::IntArrayRef{});
}

// The longest run of equals among the sorted elements: of several the smallest value's.
Two mode(const Tensor& self, std::int64_t dim, bool keepdim) {
  auto guard = guard_for(self);
  dim = at::maybe_wrap_dim(dim, self.dim());
  check_dim("mode", self, dim);
  auto whole = self.dim() ? self : self.view({1});
  auto result_shape = whole.sizes().vec();
  if (keepdim)
    result_shape[static_cast<std::size_t>(dim)] = 1;
  else
    result_shape.erase(result_shape.begin() + dim);
  if (whole.numel() == 0)
    return {at::empty(result_shape, self.options()),
            at::empty(result_shape, self.options().dtype(at::kLong))};
  auto [v, i] = at::sort(whole.transpose(dim, -1), -1);
  auto n = v.size(-1);
  auto place = at::arange(n, i.options());
  auto starts = at::cat(
      {v.narrow(-1, 0, 1).ne(v.narrow(-1, 0, 1)), v.narrow(-1, 1, n - 1).ne(v.narrow(-1, 0, n - 1))}, -1);
  auto start = std::get<0>(at::cummax(place * starts, -1));
  auto best = at::argmax(place - start, -1, true);
  auto shaped = [&](const Tensor& t) {
    auto back = t.transpose(dim, -1);
    if (!self.dim()) return back.reshape(at::IntArrayRef{});
    return keepdim ? back.contiguous() : back.squeeze(dim).contiguous();
  };
  return {shaped(at::gather(v, -1, best)), shaped(at::gather(i, -1, best))};
}

TwoOut mode_out(const Tensor& self, std::int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  check_one_device(self, values, indices);
  return store(mode(self, dim, keepdim), true, dim, values, indices);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_sort_stable, sort_kernel, 2>(m, "sort.stable", "sort.values_stable");
  structured<at::meta::structured_topk, topk_kernel, 2>(m, "topk", "topk.values");
  m.impl("kthvalue.values", kthvalue);
  m.impl("median", median<false>);
  m.impl("median.dim_values", median_out<false>);
  m.impl("nanmedian", median<true>);
  m.impl("nanmedian.dim_values", median_out<true>);
  m.impl("mode", mode);
  m.impl("mode.values", mode_out);
}

}  // namespace torch_xpu

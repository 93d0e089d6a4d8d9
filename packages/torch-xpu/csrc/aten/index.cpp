// Advanced indexing, and take and put over all elements.
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/TensorAdvancedIndexingUtils.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/indexing.h"
#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using Indices = c10::List<std::optional<Tensor>>;
using xpu::kernels::Combine;
using xpu::kernels::combiner;

// The indices as the runtime has them: one for each leading dimension, masks replaced by positions.
std::vector<Tensor> expanded(const Tensor& self, const Indices& indices) {
  TORCH_CHECK_INDEX(static_cast<std::int64_t>(indices.size()) <= self.dim(),
                    "too many indices for tensor of dimension ", self.dim(), " (got ", indices.size(), ")");
  at::native::checkIndexTensorTypes(indices, /*allow_int=*/true);
  auto tensors = at::native::expandTensors(self, indices, /*ensure_same_device=*/true);
  TORCH_CHECK_INDEX(static_cast<std::int64_t>(tensors.size()) <= self.dim(),
                    "too many indices for tensor of dimension ", self.dim(), " (got ", tensors.size(), ")");
  std::vector<Tensor> given;
  for (auto& t : tensors)
    if (t.defined()) given.push_back(t);
  try {
    at::expand_outplace(given);
  } catch (const std::exception&) {
    TORCH_CHECK_INDEX(false, "shape mismatch: indexing tensors could not be broadcast together with shapes ",
                      at::native::shapes_as_str(given));
  }
  return tensors;
}

std::vector<xpu::Tensor> views_of(const std::vector<Tensor>& tensors) {
  std::vector<xpu::Tensor> views;
  for (auto& t : tensors) views.push_back(t.defined() ? view_of(t) : xpu::Tensor());
  return views;
}

void check_not_empty(const Tensor& self, const std::vector<Tensor>& indices) {
  for (std::size_t d = 0; d < indices.size(); ++d)
    TORCH_CHECK_INDEX(
        !indices[d].defined() || indices[d].numel() == 0 || self.size(static_cast<std::int64_t>(d)) > 0,
        "index is out of bounds for dimension ", d, " with size 0");
}

void index_into(Tensor& out, const Tensor& self, const Indices& indices, bool given) {
  auto tensors = expanded(self, indices);
  auto views = views_of(tensors);
  check_not_empty(self, tensors);
  translated([&] {
    auto x = view_of(self);
    auto shape = xpu::kernels::index_shape(x, views);
    at::IntArrayRef sizes(shape.shape, static_cast<std::size_t>(shape.ndim));
    if (given) {
      at::assert_no_internal_overlap(out);
      at::assert_no_overlap(out, self);
      for (auto& t : tensors)
        if (t.defined()) at::assert_no_overlap(out, t);
      out.resize_(sizes);
    } else {
      out = at::empty(sizes, self.options());
    }
    if (out.numel()) xpu::kernels::index(stream_of(self), view_of(out), x, views, index_options());
  });
}

Tensor index(const Tensor& self, const Indices& indices) {
  auto guard = guard_for(self);
  Tensor out;
  index_into(out, self, indices, false);
  return out;
}

Tensor& index_out(const Tensor& self, const Indices& indices, Tensor& out) {
  auto guard = guard_for(self);
  check_one_device(self, out);
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), "index_out: self (", self.scalar_type(),
              ") and result (", out.scalar_type(), ") must have the same scalar type");
  index_into(out, self, indices, true);
  return out;
}

Tensor& index_put(Tensor& self, const Indices& indices, const Tensor& values, bool accumulate, bool) {
  auto guard = guard_for(self);
  TORCH_CHECK_INDEX(values.scalar_type() == self.scalar_type(),
                    "Index put requires the source and destination dtypes match, got ", self.scalar_type(),
                    " for the destination and ", values.scalar_type(), " for the source.");
  if (at::has_internal_overlap(self) == at::MemOverlap::Yes)
    TORCH_WARN(
        "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before performing "
        "this operation.");
  if (!accumulate) {
    auto [only_mask, mask] = at::native::canDispatchToMaskedFill(self, indices, values);
    if (only_mask) return self.masked_fill_(mask, values.item());
  }
  auto local = values.device() == self.device() ? values : values.to(self.device());
  TORCH_CHECK(values.device() == self.device() || values.dim() == 0, "expected all tensors on ",
              self.device(), ", got values on ", values.device());
  at::assert_no_overlap(self, local);
  auto tensors = expanded(self, indices);
  auto views = views_of(tensors);
  check_not_empty(self, tensors);
  translated([&] {
    auto x = view_of(self);
    auto shape = xpu::kernels::index_shape(x, views);
    if (shape.numel() == 0) return;
    at::IntArrayRef sizes(shape.shape, static_cast<std::size_t>(shape.ndim));
    TORCH_CHECK(at::is_expandable_to(local.sizes(), sizes), "shape mismatch: value tensor of shape ",
                local.sizes(), " cannot be broadcast to indexing result of shape ", sizes);
    xpu::kernels::index_put(stream_of(self), x, views, view_of(local),
                            combiner(accumulate ? Combine::add : Combine::replace), index_options());
  });
  return self;
}

// All elements in row-major order, and an index into them.
void take_into(const Tensor& out, const Tensor& self, const Tensor& index) {
  TORCH_CHECK(index.scalar_type() == at::kLong, "take(): Expected a long tensor for index, but got ",
              index.scalar_type());
  TORCH_CHECK_INDEX(self.numel() > 0 || index.numel() == 0, "take(): tried to take from an empty tensor");
  if (index.numel() == 0) return;
  auto line = self.reshape({-1});
  std::array<xpu::Tensor, 1> indices{line_view(index)};
  translated(
      [&] { xpu::kernels::index(stream_of(self), line_view(out), view_of(line), indices, index_options()); });
}

Tensor take(const Tensor& self, const Tensor& index) {
  auto guard = guard_for(self, index);
  check_one_device(self, index);
  auto out = at::empty(index.sizes(), self.options());
  take_into(out, self, index);
  return out;
}

Tensor& take_out(const Tensor& self, const Tensor& index, Tensor& out) {
  auto guard = guard_for(self, index);
  check_one_device(self, index, out);
  TORCH_CHECK(out.scalar_type() == self.scalar_type(),
              "take(): self and out expected to have the same dtype, but got self.dtype = ",
              self.scalar_type(), " and out.dtype = ", out.scalar_type());
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, index);
  at::assert_no_overlap(out, self);
  out.resize_(index.sizes());
  take_into(out, self, index);
  return out;
}

Tensor& put_(Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  auto guard = guard_for(self, index, source);
  check_one_device(self, index, source);
  TORCH_CHECK(index.scalar_type() == at::kLong, "put_(): Expected a long tensor for index, but got ",
              index.scalar_type());
  TORCH_CHECK(self.scalar_type() == source.scalar_type(),
              "put_(): self and source expected to have the same dtype, but got self.dtype = ",
              self.scalar_type(), " and source.dtype = ", source.scalar_type());
  TORCH_CHECK(
      index.numel() == source.numel(),
      "put_(): Expected source and index to have the same number of elements, but got source.numel() = ",
      source.numel(), ", index.numel() = ", index.numel());
  TORCH_CHECK_INDEX(self.numel() > 0 || index.numel() == 0,
                    "put_(): Tried to put elements into an empty tensor");
  at::assert_no_internal_overlap(self);
  at::assert_no_overlap(self, index);
  at::assert_no_overlap(self, source);
  if (index.numel() == 0) return self;
  bool flat = self.is_contiguous();
  auto line = flat ? self.view({-1}) : self.reshape({-1});
  auto places = index.reshape({-1}), values = source.reshape({-1});
  std::array<xpu::Tensor, 1> indices{view_of(places)};
  translated([&] {
    xpu::kernels::index_put(stream_of(self), view_of(line), indices, view_of(values),
                            combiner(accumulate ? Combine::add : Combine::replace), index_options());
  });
  if (!flat && !line.is_alias_of(self)) self.copy_(line.view(self.sizes()));
  return self;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("index.Tensor", index);
  m.impl("index.Tensor_out", index_out);
  m.impl("_index_put_impl_", index_put);
  m.impl("take", take);
  m.impl("take.out", take_out);
  m.impl("put_", put_);
}

}  // namespace torch_xpu

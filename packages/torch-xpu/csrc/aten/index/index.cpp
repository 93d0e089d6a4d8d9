// Advanced indexing, and take and put over all elements.
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/TensorIterator.h>
#include <ATen/TensorOperators.h>
#include <ATen/native/TensorAdvancedIndexingUtils.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <algorithm>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/elementwise/minifloat.h"
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
  for (const std::optional<Tensor> index : indices)
    TORCH_CHECK(!index || !index->defined() || index->is_cpu() || index->device() == self.device(),
                "indices should be either on cpu or on the same device as the indexed tensor (",
                self.device(), "), got one on ", index->device());
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

// A tensor whose indexed dimensions are one, and an index into that: for more index tensors than kernels
// take. Like the result of indexing, it has that dimension in place of those, or first where they are apart.
struct Joined {
  Tensor self;  ///< a view of the tensor with its dimensions in order, not yet joined
  std::vector<std::int64_t> sizes;
  std::vector<Tensor> indices;

  Joined(const Tensor& of, const std::vector<Tensor>& tensors) {
    std::vector<std::int64_t> chosen, order;
    for (std::size_t d = 0; d < tensors.size(); ++d)
      if (tensors[d].defined()) chosen.push_back(static_cast<std::int64_t>(d));
    bool together = chosen.back() - chosen.front() + 1 == static_cast<std::int64_t>(chosen.size());
    auto place = together ? chosen.front() : 0;
    for (std::int64_t d = 0; d < of.dim(); ++d)
      if (std::find(chosen.begin(), chosen.end(), d) == chosen.end()) order.push_back(d);
    order.insert(order.begin() + place, chosen.begin(), chosen.end());
    self = of.permute(order);
    std::int64_t count = 1;
    for (auto d : chosen) count *= of.size(d);
    for (std::int64_t i = 0; i < of.dim(); ++i) {
      auto in = i - place;
      if (in == 0) sizes.push_back(count);
      if (in < 0 || in >= static_cast<std::int64_t>(chosen.size())) sizes.push_back(self.size(i));
    }
    // One index out of range puts all out of range.
    Tensor place_of, fits;
    for (auto d : chosen) {
      auto at = tensors[static_cast<std::size_t>(d)].to(at::kLong);
      auto n = of.size(d);
      auto inside = at.ge(-n).logical_and_(at.lt(n));
      at = at::where(at.lt(0), at + n, at);
      place_of = place_of.defined() ? place_of * n + at : at;
      fits = fits.defined() ? fits.logical_and(inside) : inside;
    }
    indices.resize(static_cast<std::size_t>(place));
    indices.push_back(at::where(fits, place_of, count));
  }
};

bool too_many(const std::vector<Tensor>& indices) {
  constexpr auto max_indices = 8;  // as IndexedAccess::max_indices of the runtime
  return std::count_if(indices.begin(), indices.end(), [](auto& t) { return t.defined(); }) > max_indices;
}

// Allocates the result of indexing with PyTorch's strides: TensorIterator takes the order of the dimensions
// from the tensor and the indices, so that an indexed channels-last tensor stays one.
Tensor allocate_result(const Tensor& self, const std::vector<Tensor>& indices, at::IntArrayRef sizes) {
  bool is_row_major = self.is_contiguous();
  std::vector<std::int64_t> chosen;
  std::vector<Tensor> given;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!indices[d].defined()) continue;
    chosen.push_back(static_cast<std::int64_t>(d));
    given.push_back(indices[d]);
    is_row_major &= indices[d].is_contiguous();
  }
  if (is_row_major || chosen.empty()) return at::empty(sizes, self.options());
  bool adjacent = chosen.back() - chosen.front() + 1 == static_cast<std::int64_t>(chosen.size());
  auto before = adjacent ? chosen.front() : 0;
  given = at::expand_outplace(given);
  // The indexed dimensions are those of the indices, along which the tensor itself has no strides.
  std::vector<std::int64_t> strides;
  for (std::int64_t d = 0; d < self.dim(); ++d)
    if (std::find(chosen.begin(), chosen.end(), d) == chosen.end()) strides.push_back(self.stride(d));
  strides.insert(strides.begin() + before, static_cast<std::size_t>(given.front().dim()), 0);
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false)
      .check_all_same_dtype(false)
      .declare_static_dtype_and_device(self.scalar_type(), self.device())
      .add_owned_output(Tensor())
      .add_owned_const_input(self.as_strided(sizes, strides));
  auto after = static_cast<std::int64_t>(sizes.size()) - before - given.front().dim();
  for (auto& index : given) {
    auto shape = index.sizes().vec(), index_strides = index.strides().vec();
    shape.insert(shape.begin(), static_cast<std::size_t>(before), 1);
    index_strides.insert(index_strides.begin(), static_cast<std::size_t>(before), 0);
    shape.insert(shape.end(), static_cast<std::size_t>(after), 1);
    index_strides.insert(index_strides.end(), static_cast<std::size_t>(after), 0);
    config.add_owned_const_input(index.as_strided(shape, index_strides));
  }
  return config.build().output();
}

void index_into(Tensor& out, const Tensor& self, const Indices& indices, bool given) {
  auto tensors = expanded(self, indices);
  auto expanded_indices = tensors;
  check_not_empty(self, tensors);
  auto from = self;
  if (too_many(tensors)) {
    Joined joined(self, tensors);
    from = joined.self.reshape(joined.sizes);
    tensors = std::move(joined.indices);
  }
  auto views = views_of(tensors);
  translate_errors([&] {
    auto x = view_of(with_runtime_dtype(from));
    auto shape = xpu::kernels::index_shape(x, views);
    at::IntArrayRef sizes(shape.shape, static_cast<std::size_t>(shape.ndim));
    if (given) {
      at::assert_no_internal_overlap(out);
      at::assert_no_overlap(out, self);
      for (auto& t : tensors)
        if (t.defined()) at::assert_no_overlap(out, t);
      out.resize_(sizes);
    } else {
      out = allocate_result(self, expanded_indices, sizes);
    }
    if (out.numel())
      xpu::kernels::index(stream_of(self), view_of(with_runtime_dtype(out)), x, views, index_options());
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

Tensor& index_put(Tensor& self, const Indices& indices, const Tensor& values, bool accumulate, bool);

// Several elements of an expanded tensor are one place in memory. What comes is brought to elements of their
// own first; to a place goes their sum, or the last of those that something came to.
void index_put_expanded(const Tensor& self, const Indices& indices, const Tensor& values, bool accumulate) {
  auto place = each_once(self);
  at::DimVector shown, order;
  for (std::int64_t d = 0; d < self.dim(); ++d) (place.size(d) == self.size(d) ? order : shown).push_back(d);
  auto scattered = at::zeros(self.sizes(), self.options());
  index_put(scattered, indices, values, accumulate, false);
  if (accumulate) {
    place.add_(scattered.sum(at::IntArrayRef(shown), true, self.scalar_type()));
    return;
  }
  std::int64_t times = 1;
  for (auto d : shown) times *= self.size(d);
  auto outer_dims = static_cast<std::int64_t>(order.size());
  order.append(shown.begin(), shown.end());
  auto in_lines = [&](const Tensor& t) { return t.permute(order).flatten(outer_dims); };
  auto longs = self.options().dtype(at::kLong);
  auto came = at::zeros(self.sizes(), longs.dtype(at::kBool));
  index_put(came, indices, at::ones({}, came.options()), false, false);
  auto last = (in_lines(came) * at::arange(1, times + 1, longs)).amax(-1, true);
  auto chosen = in_lines(scattered).gather(-1, (last - 1).clamp_min(0));
  auto line = in_lines(place);
  line.copy_(at::where(last > 0, chosen, line));
}

Tensor& index_put(Tensor& self, const Indices& indices, const Tensor& values, bool accumulate, bool) {
  auto guard = guard_for(self);
  TORCH_CHECK_INDEX(values.scalar_type() == self.scalar_type(),
                    "Index put requires the source and destination dtypes match, got ", self.scalar_type(),
                    " for the destination and ", values.scalar_type(), " for the source.");
  bool expanded_memory = at::has_internal_overlap(self) == at::MemOverlap::Yes;
  if (expanded_memory)
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
  if (expanded_memory) {
    // Moved as bytes what has no other operators.
    auto bytes = [&](const Tensor& t) {
      return !accumulate && at::isFloat8Type(t.scalar_type()) ? t.view(at::kByte) : t;
    };
    index_put_expanded(bytes(self), indices, bytes(local), accumulate);
    return self;
  }
  auto tensors = expanded(self, indices);
  check_not_empty(self, tensors);
  if (too_many(tensors)) {
    Joined joined(self, tensors);
    auto target = joined.self.reshape(joined.sizes);
    c10::List<std::optional<Tensor>> list;
    for (auto& t : joined.indices) list.push_back(t.defined() ? std::optional(t) : std::nullopt);
    index_put(target, list, local, accumulate, false);
    if (!target.is_alias_of(self)) joined.self.copy_(target.view(joined.self.sizes()));
    return self;
  }
  auto views = views_of(tensors);
  translate_errors([&] {
    bool moves = !accumulate;
    auto x = view_of(moves ? with_runtime_dtype(self) : self);
    auto shape = xpu::kernels::index_shape(x, views);
    if (shape.numel() == 0) return;
    at::IntArrayRef sizes(shape.shape, static_cast<std::size_t>(shape.ndim));
    TORCH_CHECK(at::is_expandable_to(local.sizes(), sizes), "shape mismatch: value tensor of shape ",
                local.sizes(), " cannot be broadcast to indexing result of shape ", sizes);
    xpu::kernels::index_put(stream_of(self), x, views, view_of(moves ? with_runtime_dtype(local) : local),
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
  translate_errors(
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
  translate_errors([&] {
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

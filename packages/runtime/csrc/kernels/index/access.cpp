#include "kernels/index/access.h"

#include <algorithm>

#include "kernels/require.h"

namespace xpu::kernels {
namespace {

IndexedAccess begin(const char* op, const Tensor& elements, const Tensor& target, IndexOptions options) {
  expect<UsageError>(elements.dtype == target.dtype, op, ": got ", elements, " and ", target,
                     ", expected tensors of one dtype");
  expect<Unsupported>(size_of(target.dtype), op, ": elements of ", name_of(target.dtype),
                      " are packed two to a byte and have no address; copy to i8 or u8 first");
  require_memory(op, elements);
  require_memory(op, target);
  IndexedAccess a{op, elements, target};
  a.out_of_range = options.out_of_range;
  return a;
}

void require_index(const char* op, const Tensor& index) {
  expect<UsageError>(index.dtype == DType::i32 || index.dtype == DType::i64, op, ": the index is ", index,
                     ", expected i32 or i64");
  require_memory(op, index);
}

void require_dims(const char* op, int dims) {
  expect<Unsupported>(dims <= Tensor::max_dims, op, ": got ", dims, " dimensions, expected at most ",
                      int{Tensor::max_dims});
}

void append(Tensor& t, std::int64_t size, std::int64_t stride) {
  t.shape[t.ndim] = size;
  t.strides[t.ndim++] = stride;
}

// The position of the indices' dimensions in the result, and the result's shape.
struct IndexedShape {
  Tensor broadcast;  // of the indices
  int first = -1, last = -1, used = 0, place = 0;
  Tensor result;
};

IndexedShape shape_of(const char* op, const Tensor& target, std::span<const Tensor> indices) {
  auto count = static_cast<int>(indices.size());
  expect<UsageError>(count <= target.ndim, op, ": got ", count, " index tensors, expected at most ",
                     target.ndim, " for ", target);
  IndexedShape s;
  for (int d = 0; d < count; ++d) {
    auto& index = indices[static_cast<std::size_t>(d)];
    if (!index.data && index.ndim == 0) continue;
    require_index(op, index);
    if (s.first < 0) s.first = d;
    s.last = d, ++s.used;
    Tensor wider = s.broadcast.ndim >= index.ndim ? s.broadcast : index;
    const Tensor& other = s.broadcast.ndim >= index.ndim ? index : s.broadcast;
    for (int i = 0; i < other.ndim; ++i) {
      auto& size = wider.shape[wider.ndim - 1 - i];
      auto theirs = other.shape[other.ndim - 1 - i];
      expect<UsageError>(size == theirs || size == 1 || theirs == 1, op, ": index tensor ", d, " is ", index,
                         ", which does not broadcast with those before it");
      size = size == 1 ? theirs : size;
    }
    s.broadcast = wider;
  }
  expect<UsageError>(s.used > 0, op, ": got no index tensor, expected at least one");
  require_dims(op, target.ndim - s.used + s.broadcast.ndim);
  s.place = s.last - s.first + 1 == s.used ? s.first : 0;
  auto put_indices = [&] {
    for (int i = 0; i < s.broadcast.ndim; ++i) append(s.result, s.broadcast.shape[i], 0);
  };
  s.result.dtype = target.dtype;
  for (int d = 0, rest = 0; d < target.ndim; ++d) {
    bool indexed = d < count && (indices[d].data || indices[d].ndim);
    if (rest == s.place && (indexed || s.place == 0) && s.result.ndim == rest) put_indices();
    if (!indexed) append(s.result, target.shape[d], 0), ++rest;
  }
  return s;
}

}  // namespace

void require_no_overlap(const char* op, const Tensor& out) {
  for (int d = 0; d < out.ndim; ++d)
    expect<UsageError>(out.strides[d] != 0 || out.shape[d] <= 1 || out.numel() == 0, op, ": the output is ",
                       out, ", whose elements overlap in dimension ", d,
                       "; write to a tensor of its own and copy");
}

Tensor broadcast_to(const char* op, const char* which, const Tensor& t, const Tensor& shape) {
  Tensor view = shape;
  view.data = t.data;
  view.dtype = t.dtype;
  int missing = shape.ndim - t.ndim;
  bool fits = missing >= 0;
  for (int d = 0; fits && d < shape.ndim; ++d) {
    bool repeated = d < missing || (t.shape[d - missing] == 1 && shape.shape[d] != 1);
    fits = repeated || t.shape[d - missing] == shape.shape[d];
    view.strides[d] = repeated ? 0 : t.strides[d - missing];
  }
  expect<UsageError>(fits, op, ": ", which, " is ", t, ", which does not broadcast to ", shape);
  return view;
}

IndexedAccess dimension_access(const char* op, const Tensor& elements, const Tensor& target, int dim,
                               const Tensor& index, IndexOptions options) {
  auto a = begin(op, elements, target, options);
  require_index(op, index);
  dim = wrap_dim(op, dim, target);
  // A tensor of no dimensions is treated as one of shape [1].
  auto one = [](Tensor t) {
    if (t.ndim == 0) append(t, 1, 1);
    return t;
  };
  a.elements = one(elements), a.target = one(target);
  Tensor at = one(index);
  bool agree = at.ndim == a.target.ndim && a.elements.ndim == at.ndim;
  for (int d = 0; agree && d < at.ndim; ++d)
    agree = at.shape[d] <= a.elements.shape[d] && (d == dim || at.shape[d] <= a.target.shape[d]);
  expect<UsageError>(agree || index.numel() == 0, op, ": the index is ", index,
                     ", expected as many dimensions as ", target, " and ", elements,
                     ", and none larger but dimension ", dim, " of the first");
  if (index.numel() == 0) {
    a.elements = at;
    return a;
  }
  for (int d = 0; d < at.ndim; ++d) {
    a.elements.shape[d] = at.shape[d];
    a.target_dims[d] = d == dim ? IndexedAccess::no_dim : d;
  }
  a.add_index(at, dim);
  return a;
}

IndexedAccess slices_access(const char* op, const Tensor& elements, const Tensor& target, int dim,
                            const Tensor& index, IndexOptions options) {
  auto a = begin(op, elements, target, options);
  require_index(op, index);
  dim = wrap_dim(op, dim, target);
  Tensor shape, at;
  shape.dtype = target.dtype, at.dtype = index.dtype, at.data = index.data;
  require_dims(op, std::max(target.ndim, 1) - 1 + index.ndim);
  for (int d = 0; d < std::max(target.ndim, 1); ++d) {
    if (d != dim) {
      a.target_dims[shape.ndim] = d;
      append(shape, target.shape[d], 0), append(at, target.shape[d], 0);
      continue;
    }
    for (int i = 0; i < index.ndim; ++i) {
      a.target_dims[shape.ndim] = IndexedAccess::no_dim;
      append(shape, index.shape[i], 0), append(at, index.shape[i], index.strides[i]);
    }
  }
  if (target.ndim == 0) append(a.target, 1, 1);
  expect<UsageError>(same_shape(shape, elements), op, ": got ", elements, ", expected the shape of ", target,
                     " with that of ", index, " in place of dimension ", dim);
  a.add_index(at, dim);
  return a;
}

IndexedAccess index_tensors_access(const char* op, const Tensor& elements, const Tensor& target,
                                   std::span<const Tensor> indices, IndexOptions options) {
  auto s = shape_of(op, target, indices);
  auto a = begin(op, elements, target, options);
  a.wraps = true;
  a.elements = broadcast_to(op, "the other tensor", elements, s.result);
  // Dimensions of the result before, of and after the indices.
  int walked = 0;
  auto used = [&](int d) {
    auto i = static_cast<std::size_t>(d);
    return i < indices.size() && (indices[i].data || indices[i].ndim);
  };
  for (int d = 0; d < target.ndim; ++d) {
    if (used(d)) continue;
    a.target_dims[walked < s.place ? walked : walked + s.broadcast.ndim] = d;
    ++walked;
  }
  for (int i = 0; i < s.broadcast.ndim; ++i) a.target_dims[s.place + i] = IndexedAccess::no_dim;
  for (int d = 0; d < target.ndim; ++d) {
    if (!used(d)) continue;
    Tensor own = broadcast_to(op, "an index", indices[static_cast<std::size_t>(d)], s.broadcast);
    Tensor at = s.result;
    at.data = own.data, at.dtype = own.dtype;
    for (int i = 0; i < at.ndim; ++i) at.strides[i] = 0;
    for (int i = 0; i < own.ndim; ++i) at.strides[s.place + i] = own.strides[i];
    a.add_index(at, d);
  }
  return a;
}

Tensor index_shape(const Tensor& x, std::span<const Tensor> indices) {
  return shape_of("index", x, indices).result;
}

}  // namespace xpu::kernels

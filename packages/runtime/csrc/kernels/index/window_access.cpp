#include <algorithm>

#include "kernels/index/access.h"
#include "kernels/require.h"

namespace xpu::kernels {
namespace {

bool contains(const std::vector<int>& list, int d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

void require_listed(const char* op, const char* what, const std::vector<int>& list, int dims) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    expect<UsageError>(list[i] >= 0 && list[i] < dims, op, ": ", what, " names dimension ", list[i],
                       ", expected 0 to ", dims - 1);
    expect<UsageError>(std::find(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i), list[i]) ==
                           list.begin() + static_cast<std::ptrdiff_t>(i),
                       op, ": ", what, " names dimension ", list[i], " twice");
  }
}

}  // namespace

IndexedAccess windows_access(const char* op, const Tensor& elements, const Tensor& target,
                             const Tensor& indices, const WindowDimensions& dims,
                             std::span<const std::int64_t> sizes, OutOfRange out_of_range,
                             const Tensor& zero) {
  expect<UsageError>(elements.dtype == target.dtype, op, ": got ", elements, " and ", target,
                     ", expected tensors of one dtype");
  expect<Unsupported>(size_of(target.dtype), op, ": elements of ", name_of(target.dtype),
                      " are packed two to a byte and have no address; copy to i8 or u8 first");
  expect<UsageError>(is_integer(indices.dtype) && indices.dtype != DType::u64 && size_of(indices.dtype), op,
                     ": the indices are ", indices, ", expected i8 to i64 or u8 to u32");
  for (auto* t : {&elements, &target, &indices}) require_memory(op, *t);
  int vector = dims.vector_dim, index_dims = indices.ndim - (vector < indices.ndim);
  expect<UsageError>(vector >= 0 && vector <= indices.ndim, op, ": the index vector's dimension is ", vector,
                     ", expected 0 to ", indices.ndim);
  require_listed(op, "the list of window dimensions", dims.window, elements.ndim);
  require_listed(op, "the list of missing dimensions", dims.missing, target.ndim);
  require_listed(op, "the list of batching dimensions", dims.batching, target.ndim);
  require_listed(op, "the list of the indices' batching dimensions", dims.index_batching, indices.ndim);
  require_listed(op, "the index map", dims.map, target.ndim);
  expect<UsageError>(dims.batching.size() == dims.index_batching.size(), op, ": got ", dims.batching.size(),
                     " and ", dims.index_batching.size(), " batching dimensions, expected as many");
  auto window_dims = static_cast<int>(dims.window.size()),
       absent = static_cast<int>(dims.missing.size() + dims.batching.size());
  expect<UsageError>(window_dims + index_dims == elements.ndim && window_dims + absent == target.ndim, op,
                     ": got ", elements, ", ", target, " and indices ", indices,
                     ", whose dimensions do not fit ", window_dims, " window dimensions and ", absent,
                     " that are missing or batching");
  auto components = static_cast<std::int64_t>(dims.map.size());
  expect<UsageError>((vector < indices.ndim ? indices.shape[vector] : 1) == components, op,
                     ": the indices are ", indices, ", expected ", components, " in dimension ", vector);

  IndexedAccess a{op, elements, target};
  a.out_of_range = out_of_range;
  Tensor at = elements;
  at.dtype = indices.dtype;
  int index_dim = 0, target_dim = -1;
  for (int d = 0; d < elements.ndim; ++d) {
    at.strides[d] = 0;
    std::int64_t size;
    if (contains(dims.window, d)) {
      do ++target_dim;
      while (contains(dims.missing, target_dim) || contains(dims.batching, target_dim));
      a.target_dims[d] = target_dim;
      size = sizes[static_cast<std::size_t>(target_dim)];
      expect<UsageError>(size >= 0 && size <= target.shape[target_dim], op, ": the window is ", size,
                         " in dimension ", target_dim, " of ", target, ", expected no more than its size");
    } else {
      if (index_dim == vector) ++index_dim;
      auto batch = std::find(dims.index_batching.begin(), dims.index_batching.end(), index_dim);
      bool batches = batch != dims.index_batching.end();
      a.target_dims[d] = batches
                             ? dims.batching[static_cast<std::size_t>(batch - dims.index_batching.begin())]
                             : IndexedAccess::no_dim;
      expect<UsageError>(!batches || target.shape[a.target_dims[d]] == indices.shape[index_dim], op, ": got ",
                         target, " and indices ", indices, ", whose batching dimensions differ");
      size = indices.shape[index_dim];
      at.strides[d] = indices.strides[index_dim++];
    }
    expect<UsageError>(elements.shape[d] == size, op, ": got ", elements, ", expected ", size,
                       " in dimension ", d);
  }
  for (std::size_t k = 0; k < dims.map.size(); ++k) {
    int dim = dims.map[k];
    std::int64_t offset = vector < indices.ndim ? static_cast<std::int64_t>(k) * indices.strides[vector] : 0;
    at.data = static_cast<char*>(indices.data) + offset * static_cast<std::int64_t>(size_of(indices.dtype));
    a.add_index(at, dim).last = target.shape[dim] - sizes[static_cast<std::size_t>(dim)];
  }
  if (a.indices == 0) {
    // Without indices every window begins at 0: add a dimension of one element and the index 0 into it.
    expect<Unsupported>(target.ndim < Tensor::max_dims, op, ": got ", target, ", expected at most ",
                        Tensor::max_dims - 1, " dimensions when there is no index");
    a.target.shape[a.target.ndim] = a.target.strides[a.target.ndim] = 1;
    at.data = zero.data;
    at.dtype = zero.dtype;
    for (int d = 0; d < at.ndim; ++d) at.strides[d] = 0;
    a.add_index(at, a.target.ndim++);
  }
  return a;
}

}  // namespace xpu::kernels

// XLA's gather and scatter.
#include <algorithm>

#include "kernels/index/access.h"
#include "kernels/index/combine.h"
#include "kernels/scratch_buffer.h"
#include "xpu/copy.h"
#include "xpu/error.h"

namespace xpu::kernels {
namespace {

// The index of a call that has no indices: a single 0 on the device.
struct Zero {
  Zero(Stream stream, bool needed) {
    if (!needed) return;
    memory = ScratchBuffer(stream, sizeof(std::int32_t));
    fill_bytes(stream, memory.data(), 0, sizeof(std::int32_t));
    tensor.data = memory.data();
  }
  ScratchBuffer memory;
  Tensor tensor{nullptr, DType::i32, {}};
};

}  // namespace

void gather_slices(Stream stream, const Tensor& out, const Tensor& operand, const Tensor& start_indices,
                   const GatherDimensions& dims, std::span<const std::int64_t> slice_sizes) {
  const char* op = "gather_slices";
  expect<UsageError>(slice_sizes.size() == static_cast<std::size_t>(operand.ndim), op, ": got ",
                     slice_sizes.size(), " slice sizes, expected one for each dimension of ", operand);
  for (int d = 0; d < operand.ndim; ++d) {
    auto size = slice_sizes[static_cast<std::size_t>(d)];
    expect<UsageError>(size >= 0 && size <= operand.shape[d], op, ": the slice is ", size, " in dimension ",
                       d, " of ", operand, ", expected no more than its size");
  }
  require_no_overlap(op, out);
  Zero zero(stream, dims.start_index_map.empty());
  WindowDimensions windows{dims.offset_dims,           dims.collapsed_slice_dims,
                           dims.operand_batching_dims, dims.start_indices_batching_dims,
                           dims.start_index_map,       dims.index_vector_dim};
  gather_elements(stream, windows_access(op, out, operand, start_indices, windows, slice_sizes,
                                         OutOfRange::clamp, zero.tensor));
}

void scatter_slices(Stream stream, const Tensor& out, const Tensor& scatter_indices, const Tensor& updates,
                    const ScatterDimensions& dims, const Combiner& combiner, bool deterministic) {
  const char* op = "scatter_slices";
  require_no_overlap(op, out);
  Zero zero(stream, dims.scatter_dims_to_operand_dims.empty());
  WindowDimensions windows{dims.update_window_dims,           dims.inserted_window_dims,
                           dims.input_batching_dims,          dims.scatter_indices_batching_dims,
                           dims.scatter_dims_to_operand_dims, dims.index_vector_dim};
  // The window is as large as the updates say, and 1 where it has no dimension.
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(out.ndim), 1);
  std::size_t next = 0;
  auto listed = [](const std::vector<int>& list, int d) {
    return std::find(list.begin(), list.end(), d) != list.end();
  };
  for (int d = 0; d < out.ndim && next < dims.update_window_dims.size(); ++d) {
    if (listed(dims.inserted_window_dims, d) || listed(dims.input_batching_dims, d)) continue;
    int from = dims.update_window_dims[next++];
    expect<UsageError>(from >= 0 && from < updates.ndim, op,
                       ": the list of window dimensions names dimension ", from, ", expected 0 to ",
                       updates.ndim - 1);
    sizes[static_cast<std::size_t>(d)] = updates.shape[from];
  }
  combine(stream,
          windows_access(op, updates, out, scatter_indices, windows, sizes, OutOfRange::drop, zero.tensor),
          combiner, deterministic);
}

}  // namespace xpu::kernels

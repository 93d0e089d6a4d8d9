// Gathers and scatters: elements of a tensor chosen by index tensors, read, written or combined.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "xpu/abi.h"
#include "xpu/kernels/scalar.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// Handling of an index out of range. `fault`: the next wait throws KernelFault, which names the operation.
/// With `fault` and `drop` no element is read or written for the index.
enum class OutOfRange : std::uint8_t { fault, clamp, drop };

struct IndexOptions {
  OutOfRange out_of_range = OutOfRange::fault;
  /// Gives the same bits in every run: floats are combined in a fixed order, and of several writes to an
  /// element the last in row-major order remains. Otherwise the order is undefined.
  bool deterministic = false;
};

/// How a scatter combines a value with an element, in the language of the device library. In `combine`, `a`
/// is the element and `b` the value, both of type T: the arithmetic type of the dtype (float for f16, bf16
/// and fp8).
struct CombineExpression {
  std::string name;     ///< a C identifier, for traces and errors
  std::string combine;  ///< associative, such as "a + b"
  std::vector<std::string> headers = {"math", "integer"};
};

/// A way of combining and the kernels built for it so far. Make it once and keep it. Thread-safe.
class XPU_API Combiner {
 public:
  explicit Combiner(CombineExpression expression);
  ~Combiner();
  Combiner(const Combiner&) = delete;
  Combiner& operator=(const Combiner&) = delete;

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

enum class Combine : std::uint8_t { replace, add, multiply, minimum, maximum };
/// Predefined combiners. Minimum and maximum propagate NaN; `replace` gives the value.
XPU_API const Combiner& combiner(Combine combine);
/// The combiner of a name, such as "add". Throws UsageError, which lists the names.
XPU_API Combine combine_of(std::string_view name);

// PyTorch's operations. They enqueue and are thread-safe. Index tensors are i32 or i64, of any strides. The
// other tensors of a call have one dtype, any but u4 and i4, and any strides, but written ones must not
// overlap themselves.

/// out[.., i, ..] = x[.., index[.., i, ..], ..] along `dim`; `out` has the shape of `index`, which is nowhere
/// larger than `x` but along `dim`.
XPU_API void gather(Stream stream, const Tensor& out, const Tensor& x, int dim, const Tensor& index,
                    IndexOptions options = {});
/// Combines out[.., index[.., i, ..], ..] with src[.., i, ..]. `src` may be larger than `index`.
XPU_API void scatter(Stream stream, const Tensor& out, int dim, const Tensor& index, const Tensor& src,
                     const Combiner& combiner, IndexOptions options = {});
XPU_API void scatter(Stream stream, const Tensor& out, int dim, const Tensor& index, Scalar value,
                     const Combiner& combiner, IndexOptions options = {});
/// The mean of the values and, with `include_self`, of the element; integers round down.
XPU_API void scatter_mean(Stream stream, const Tensor& out, int dim, const Tensor& index, const Tensor& src,
                          bool include_self, IndexOptions options = {});

/// out = x with dimension `dim` replaced by the dimensions of `index`, such as rows of an embedding.
XPU_API void index_select(Stream stream, const Tensor& out, const Tensor& x, int dim, const Tensor& index,
                          IndexOptions options = {});
/// Combines out[.., index[i], ..] with src[.., i, ..].
XPU_API void index_combine(Stream stream, const Tensor& out, int dim, const Tensor& index, const Tensor& src,
                           const Combiner& combiner, IndexOptions options = {});
/// Sets grad_weight to 0, then adds the rows of `grad`, of shape [index.., columns], at their index, except
/// for `padding_index`.
XPU_API void embedding_backward(Stream stream, const Tensor& grad_weight, const Tensor& grad,
                                const Tensor& index, std::optional<std::int64_t> padding_index,
                                IndexOptions options = {});

/// Advanced indexing: `indices` has a tensor for each leading dimension of `x`; one without memory and
/// dimensions takes the whole dimension. They broadcast together; negative indices count from the end. If
/// they are neighbors, their dimensions replace those of the first, otherwise they come first.
XPU_API void index(Stream stream, const Tensor& out, const Tensor& x, std::span<const Tensor> indices,
                   IndexOptions options = {});
/// Combines x[indices] with `values`, which broadcast.
XPU_API void index_put(Stream stream, const Tensor& x, std::span<const Tensor> indices, const Tensor& values,
                       const Combiner& combiner, IndexOptions options = {});
/// Returns the shape of index()'s result, as a tensor without memory.
XPU_API Tensor index_shape(const Tensor& x, std::span<const Tensor> indices);

// XLA's operations, with StableHLO's names. Index tensors have any integer dtype but u64. If an index is out
// of range, gather clamps it and scatter drops the whole window.

struct GatherDimensions {
  std::vector<int> offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims,
      start_index_map;
  int index_vector_dim = 0;
};
XPU_API void gather_slices(Stream stream, const Tensor& out, const Tensor& operand,
                           const Tensor& start_indices, const GatherDimensions& dims,
                           std::span<const std::int64_t> slice_sizes);

struct ScatterDimensions {
  std::vector<int> update_window_dims, inserted_window_dims, input_batching_dims,
      scatter_indices_batching_dims, scatter_dims_to_operand_dims;
  int index_vector_dim = 0;
};
XPU_API void scatter_slices(Stream stream, const Tensor& out, const Tensor& scatter_indices,
                            const Tensor& updates, const ScatterDimensions& dims, const Combiner& combiner,
                            bool deterministic = false);

}  // namespace xpu::kernels

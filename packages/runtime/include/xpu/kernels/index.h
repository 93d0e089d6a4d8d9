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

/// What an index out of range does. A fault is a KernelFault at the next wait that names the operation; its
/// element is neither read nor written, and neither is that of a dropped one.
enum class OutOfRange : std::uint8_t { fault, clamp, drop };

struct IndexOptions {
  OutOfRange out_of_range = OutOfRange::fault;
  /// The same bits every run: floats are combined in a fixed order, and of several writes to an element the
  /// last in row-major order stays. Otherwise any order does.
  bool deterministic = false;
};

/// How a scatter brings a value to an element, in the language of the device library. `combine` speaks of
/// `a`, what is there, and `b`, what comes, both of type T: the arithmetic type of the dtype (float for f16,
/// bf16 and fp8).
struct CombineExpression {
  std::string name;     ///< a C identifier, for traces and errors
  std::string combine;  ///< associative, such as "a + b"
  std::vector<std::string> headers = {"math", "integer"};
};

/// A way of combining and the kernels made of it so far. Make it once and keep it. Threads may share it.
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
/// The combiners everybody needs; NaN stays in minimum and maximum. `replace` is one too: the value that
/// comes.
XPU_API const Combiner& combiner(Combine combine);
/// "add" is Combine::add; throws UsageError naming all for what is none.
XPU_API Combine combine_of(std::string_view name);

// PyTorch's operations. Index tensors are i32 or i64, of any strides. The other tensors of a call have one
// dtype, any but u4 and i4, and any strides, but what is written must not overlap itself.

/// out[.., i, ..] = x[.., index[.., i, ..], ..] along `dim`; `out` has the shape of `index`, which is nowhere
/// larger than `x` but along `dim`.
XPU_API void gather(Stream stream, const Tensor& out, const Tensor& x, int dim, const Tensor& index,
                    IndexOptions options = {});
/// The other way round: out[.., index[.., i, ..], ..] is combined with src[.., i, ..]. `src` may be larger
/// than `index`.
XPU_API void scatter(Stream stream, const Tensor& out, int dim, const Tensor& index, const Tensor& src,
                     const Combiner& combiner, IndexOptions options = {});
XPU_API void scatter(Stream stream, const Tensor& out, int dim, const Tensor& index, Scalar value,
                     const Combiner& combiner, IndexOptions options = {});
/// The mean of what comes and, with `include_self`, of what is there; integers round down.
XPU_API void scatter_mean(Stream stream, const Tensor& out, int dim, const Tensor& index, const Tensor& src,
                          bool include_self, IndexOptions options = {});

/// out = x with dimension `dim` replaced by those of `index`, which has any number of them: rows of an
/// embedding.
XPU_API void index_select(Stream stream, const Tensor& out, const Tensor& x, int dim, const Tensor& index,
                          IndexOptions options = {});
/// out[.., index[i], ..] is combined with src[.., i, ..].
XPU_API void index_combine(Stream stream, const Tensor& out, int dim, const Tensor& index, const Tensor& src,
                           const Combiner& combiner, IndexOptions options = {});
/// grad_weight = 0, then the rows of `grad`, of shape [index.., columns], are added at their index, except
/// where it is `padding_index`.
XPU_API void embedding_backward(Stream stream, const Tensor& grad_weight, const Tensor& grad,
                                const Tensor& index, std::optional<std::int64_t> padding_index,
                                IndexOptions options = {});

/// Advanced indexing: `indices` has a tensor for each leading dimension of `x`, one without memory and
/// dimensions where all is taken. They broadcast together; negative ones count from the end. Their dimensions
/// come where the first of them stood when they are neighbours, otherwise first.
XPU_API void index(Stream stream, const Tensor& out, const Tensor& x, std::span<const Tensor> indices,
                   IndexOptions options = {});
/// x[indices] is combined with `values`, which broadcast.
XPU_API void index_put(Stream stream, const Tensor& x, std::span<const Tensor> indices, const Tensor& values,
                       const Combiner& combiner, IndexOptions options = {});
/// The shape that index() gives, as a tensor without memory.
XPU_API Tensor index_shape(const Tensor& x, std::span<const Tensor> indices);

// XLA's operations, in the words of StableHLO. Index tensors are of any integer dtype but u64; out of range,
// gather clamps and scatter drops the whole window, whatever the options say.

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

#include "kernels/sort/call.h"

#include "kernels/require.h"
#include "xpu/copy.h"

namespace xpu::kernels {
namespace {

// Inside, positions have 32 bits.
constexpr std::int64_t max_row_length = (std::int64_t{1} << 32) - 1;

bool wanted(const Tensor& t) {
  return t.data || t.ndim;
}

Tensor moved_last(const Tensor& t, int dim) {
  Tensor moved = t;
  for (int i = dim; i + 1 < t.ndim; ++i) {
    moved.shape[i] = t.shape[i + 1];
    moved.strides[i] = t.strides[i + 1];
  }
  if (t.ndim) {
    moved.shape[t.ndim - 1] = t.shape[dim];
    moved.strides[t.ndim - 1] = t.strides[dim];
  }
  return moved;
}

Tensor output(const char* name, const char* which, const Tensor& out, const Tensor& expected, int dim) {
  if (!wanted(out)) return out;
  expect<UsageError>(same_shape(out, expected), name, ": the ", which, " array is ", out.describe(),
                     ", expected the shape of ", expected.describe());
  require_memory(name, out);
  return moved_last(out, dim);
}

}  // namespace

SortArrays sort_arrays(const char* name, const Tensor& values, const Tensor& indices, const Tensor& in,
                       int dim, std::int64_t keep) {
  expect<Unsupported>(!is_complex(in.dtype) && size_of(in.dtype), name, ": elements of ", name_of(in.dtype),
                      " have no order or no address; convert them first");
  require_memory(name, in);
  dim = wrap_dim(name, dim, in);
  std::int64_t n = in.ndim ? in.shape[dim] : 1;
  expect<Unsupported>(n <= max_row_length, name, ": got rows of ", n, " elements, expected at most ",
                      max_row_length);
  if (keep == whole_row) keep = n;
  expect<UsageError>(keep >= 0 && keep <= n, name, ": got k ", keep, ", expected 0 to ", n,
                     ", the size of dimension ", dim, " of ", in.describe());
  Tensor expected = in;
  expected.shape[dim] = keep;
  expected = row_major(nullptr, in.dtype, expected);
  if (wanted(values)) require_dtype(name, "the value array", values, in.dtype);
  if (wanted(indices) && indices.dtype != DType::i32)
    require_dtype(name, "the index array", indices, DType::i64);
  return {name,
          output(name, "value", values, expected, dim),
          output(name, "index", indices, expected, dim),
          moved_last(in, dim),
          n ? in.numel() / n : 0,
          n,
          keep};
}

SortCall::SortCall(Stream stream, const SortArrays& arrays, bool descending, bool total_order)
    : in_(stream, arrays.in), values_(stream, arrays.values), indices_(stream, arrays.indices) {
  auto& values = values_.tensor();
  auto& indices = indices_.tensor();
  // Values alone need no positions; integers have one order only.
  bool looked_up = is_float(arrays.in.dtype) && !total_order && indices.data;
  auto order = total_order && is_float(arrays.in.dtype) ? SortOrder::total
               : looked_up                              ? SortOrder::numbers
                                                        : SortOrder::values;
  const void* in = in_.tensor().data;
  // If one key represents several values, the values are read again after the first results are written.
  if (looked_up && in == values.data) {
    auto bytes = static_cast<std::size_t>(arrays.in.numel()) * size_of(arrays.in.dtype);
    copy_ = ScratchBuffer(stream, bytes);
    copy(stream, copy_.data(), in, bytes);
    in = copy_.data();
  }
  rows_ = {stream,
           arrays.name,
           arrays.in.dtype,
           order,
           descending,
           arrays.count,
           arrays.n,
           arrays.keep,
           in,
           nullptr,
           values.data,
           indices.data,
           indices.data ? indices.dtype : DType::i64};
}

void SortCall::finish() {
  if (rows_.values) values_.finish();
  if (rows_.indices) indices_.finish();
}

}  // namespace xpu::kernels

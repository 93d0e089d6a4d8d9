// Sorts and selections along a dimension.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

struct SortOptions {
  bool descending = false;
  /// True: all bit patterns of floats differ; -0 precedes +0, negative NaNs come first and positive ones
  /// last. False: zeros are equal, and NaNs are equal and greater than infinity.
  bool total_order = false;
};

/// Enqueues the sorted elements of `in` along `dim` and their positions, i64 or i32. Equal elements stay in
/// their order. Any strides; `values` may be `in`. Either output may have no memory. Values alone are faster;
/// -0 then precedes +0, and all NaNs become the same one.
XPU_API void sort(Stream stream, const Tensor& values, const Tensor& indices, const Tensor& in, int dim,
                  SortOptions options = {});

struct TopKOptions {
  bool largest = true;
  bool sorted = true;  ///< the largest, or smallest, first; otherwise in any order
};

/// Enqueues the `k` largest or smallest elements along `dim` and their positions, i64 or i32. NaN is the
/// greatest; of equal elements the first ones are taken. The outputs have the shape of `in` with `k` at
/// `dim`; either may have no memory.
XPU_API void topk(Stream stream, const Tensor& values, const Tensor& indices, const Tensor& in,
                  std::int64_t k, int dim, TopKOptions options = {});

/// Order of elements that consist of several operands, in the language of the device library. `less` is true
/// if element a goes before element b. In it `a0` and `b0` are the first operand's values, `a1` and `b1` the
/// second's, and so on; f16, bf16 and fp8 are float there.
struct SortComparison {
  std::string name;                                        ///< a C identifier, for traces and errors
  std::string less;                                        ///< such as "a0 < b0 || (a0 == b0 && a1 < b1)"
  std::vector<std::string> headers = {"math", "integer"};  ///< files of the device library
};

/// A sort by a comparison and the kernels built for it so far. Make it once and keep it. Thread-safe.
class XPU_API ComparisonSort {
 public:
  static constexpr std::size_t max_operands = 12;

  explicit ComparisonSort(SortComparison comparison);
  ~ComparisonSort();
  ComparisonSort(const ComparisonSort&) = delete;
  ComparisonSort& operator=(const ComparisonSort&) = delete;

  /// Enqueues the operands of one shape, sorted together along `dim`. The sort is stable. Any strides; an
  /// output may be an operand. An inconsistent comparison gives some of the elements in any order.
  void operator()(Stream stream, std::span<const Tensor> outs, std::span<const Tensor> ins, int dim) const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace xpu::kernels

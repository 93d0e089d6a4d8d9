// Scans along a dimension: cumulative sums and their like.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// How a scan combines, in the language of the device library. In `combine`, `a` is the earlier and `b` the
/// later value, both of type T: the arithmetic type of the output's dtype (float for f16, bf16 and fp8).
struct ScanExpression {
  std::string name;       ///< a C identifier, for traces and errors
  std::string combine;    ///< associative, such as "a + b"
  std::string identity;   ///< such as "T(0)"
  bool commutes = false;  ///< true if a and b may be swapped, which is a little faster
  std::vector<std::string> headers = {"math", "integer"};  ///< files of the device library
};

struct ScanOptions {
  bool exclusive = false;  ///< element i combines the elements before it; the first one is the identity
  bool reverse = false;    ///< from the last element to the first
};

/// A scan and the kernels built for it so far. Make it once and keep it. Thread-safe.
/// The order of combination depends on the shape and the device only, so results repeat bit for bit.
class XPU_API Scan {
 public:
  explicit Scan(ScanExpression expression);
  ~Scan();
  Scan(const Scan&) = delete;
  Scan& operator=(const Scan&) = delete;

  /// Enqueues the scan of `in`, converted to the dtype of `out`, along `dim`. Same shape, any strides; may be
  /// in place.
  void operator()(Stream stream, const Tensor& out, const Tensor& in, int dim,
                  ScanOptions options = {}) const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// Sum and product in the output's dtype, which may be complex; integers wrap.
XPU_API void cumsum(Stream stream, const Tensor& out, const Tensor& in, int dim, ScanOptions options = {});
XPU_API void cumprod(Stream stream, const Tensor& out, const Tensor& in, int dim, ScanOptions options = {});
/// log of the sum of exponentials, for floating and complex outputs.
XPU_API void logcumsumexp(Stream stream, const Tensor& out, const Tensor& in, int dim,
                          ScanOptions options = {});
/// Largest and smallest value so far; NaN propagates. `indices` (i64) gets its position, the last one of
/// equal values as in PyTorch; pass a Tensor without memory for values only.
XPU_API void cummax(Stream stream, const Tensor& values, const Tensor& indices, const Tensor& in, int dim);
XPU_API void cummin(Stream stream, const Tensor& values, const Tensor& indices, const Tensor& in, int dim);

}  // namespace xpu::kernels

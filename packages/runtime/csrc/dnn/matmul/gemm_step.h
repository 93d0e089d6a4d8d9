// A product of two matrices by oneDNN's BLAS-like functions, which use no primitive. On a CPU they are often
// faster than the primitive that oneDNN would choose.
#pragma once

#include <optional>

#include "dnn/plan.h"
#include "dnn/reorder_step.h"

namespace xpu::dnn {

/// The arguments of the functions.
struct Gemm {
  struct Matrix {
    int operand;
    bool transposed;
    std::int64_t step;  ///< from one row, or column when transposed, to the next
  };
  dnnl::memory::data_type type;  ///< of a
  std::int64_t m, n, k;
  Matrix a, b, c;

  /// Returns nullopt if there is no function for these types or strides.
  static std::optional<Gemm> of(const PlacedOperand& a, const PlacedOperand& b, const PlacedOperand& c);
  /// Returns true if the primitive would take longer on this CPU.
  bool is_faster() const;
};

class GemmStep : public Step {
 public:
  explicit GemmStep(const Gemm& gemm) : gemm_(gemm) {}
  void run(Stream stream, const std::shared_ptr<const Plan>& plan, void* const* pointers) const override;

 private:
  Gemm gemm_;
};

}  // namespace xpu::dnn

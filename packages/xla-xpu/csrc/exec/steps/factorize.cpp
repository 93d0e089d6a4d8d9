// Dense linear algebra in place, on batches of matrices that the plan has copied.
#include "xpu/kernels/factorize.h"
#include "exec/steps.h"

namespace xla_xpu {
namespace {

namespace kernels = xpu::kernels;

// Fills matrices that have no factor with NaN, as JAX does.
class CholeskyStep final : public Step {
 public:
  explicit CholeskyStep(const PlanFields& fields) : a_(fields.operand("a")), info_(fields.operand("info")) {}
  void run(Frame& frame) const override {
    auto a = frame.at(a_), info = frame.at(info_);
    kernels::factorize_cholesky(frame.stream, a, info);
    kernels::fill_failed_with_nan(frame.stream, a, info);
  }

 private:
  Operand a_, info_;
};

class LuStep final : public Step {
 public:
  explicit LuStep(const PlanFields& fields)
      : a_(fields.operand("a")),
        pivots_(fields.operand("pivots")),
        permutation_(fields.operand("permutation")),
        info_(fields.operand("info")) {}
  void run(Frame& frame) const override {
    auto pivots = frame.at(pivots_);
    kernels::factorize_lu(frame.stream, frame.at(a_), pivots, frame.at(info_));
    kernels::pivots_to_permutation(frame.stream, pivots, frame.at(permutation_));
  }

 private:
  Operand a_, pivots_, permutation_, info_;
};

class SolveTriangleStep final : public Step {
 public:
  explicit SolveTriangleStep(const PlanFields& fields)
      : a_(fields.operand("a")),
        x_(fields.operand("x")),
        which_{fields.get<bool>("upper"), fields.get<bool>("unit"), fields.get<bool>("conjugate")} {}
  void run(Frame& frame) const override {
    kernels::solve_triangle(frame.stream, frame.at(a_), frame.at(x_), which_);
  }

 private:
  Operand a_, x_;
  kernels::Triangle which_;
};

}  // namespace

std::unique_ptr<Step> make_cholesky(const PlanFields& fields) {
  return std::make_unique<CholeskyStep>(fields);
}
std::unique_ptr<Step> make_lu(const PlanFields& fields) {
  return std::make_unique<LuStep>(fields);
}
std::unique_ptr<Step> make_solve_triangle(const PlanFields& fields) {
  return std::make_unique<SolveTriangleStep>(fields);
}

}  // namespace xla_xpu

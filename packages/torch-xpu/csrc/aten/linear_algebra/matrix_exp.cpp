// The exponential of matrices: a Taylor polynomial of a matrix halved until it is small, squared as often.
#include <ATen/native/LinearAlgebraUtils.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/where.h>
#include <torch/library.h>

#include <vector>

#include "ops/arguments.h"
#include "ops/factorize.h"

namespace torch_xpu {
namespace {

using at::Tensor;

// Up to this norm a Taylor polynomial of degree 16 leaves less than the rounding error.
double small_norm(at::ScalarType real) {
  return real == at::kDouble ? 0.8 : 2.7;
}

// A polynomial in A^4 whose coefficients are polynomials in A: six products.
Tensor taylor(const Tensor& a) {
  constexpr int step = 4, blocks = 4;
  std::vector<Tensor> powers{a};
  while (static_cast<int>(powers.size()) < step) powers.push_back(at::bmm(powers.back(), a));
  double factorial = 1;
  for (int k = 2; k <= step * blocks; ++k) factorial *= k;
  // The highest term joins the last block.
  auto sum = powers.back().mul(1 / factorial);
  int k = step * blocks;
  for (int block = blocks - 1; block >= 0; --block) {
    for (int power = step - 1; power >= 0; --power) {
      factorial /= k--;
      if (power)
        sum.add_(powers[static_cast<std::size_t>(power - 1)], 1 / factorial);
      else
        sum.diagonal(0, -2, -1).add_(1 / factorial);
    }
    if (block) sum = at::bmm(sum, powers.back());
  }
  return sum;
}

Tensor exponential_of(const Tensor& a) {
  // The largest sum of a column, as a number of halvings.
  auto norm = a.abs().sum(-2).amax(-1);
  auto halvings = norm.div(small_norm(norm.scalar_type()))
                      .log2_()
                      .ceil_()
                      .nan_to_num_(0, 0, 0)
                      .clamp_min_(0)
                      .view({-1, 1, 1});
  auto often = static_cast<int>(halvings.max().item<double>());
  // In two steps, because such powers of two may be too small for the type.
  auto half = halvings.mul(0.5).floor_(), rest = halvings.sub(half);
  auto small = a.mul(half.neg_().exp2_()).mul_(rest.neg_().exp2_());
  auto x = taylor(small);
  for (int k = 0; k < often; ++k) x = at::where(halvings.gt(k), at::bmm(x, x), x);
  return x;
}

Tensor matrix_exp(const Tensor& a) {
  auto guard = guard_for(a);
  at::native::squareCheckInputs(a, "linalg.matrix_exp");
  at::native::checkFloatingOrComplex(a, "linalg.matrix_exp");
  if (a.numel() == 0) return at::empty_like(a, at::MemoryFormat::Contiguous);
  if (a.size(-1) == 1) return a.exp();
  // Halves are computed as floats.
  auto type = at::isReducedFloatingType(a.scalar_type()) ? at::kFloat : a.scalar_type();
  return exponential_of(one_batch(a.to(type)).resolve_conj()).view(a.sizes()).to(a.scalar_type());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("linalg_matrix_exp", matrix_exp);
}

}  // namespace torch_xpu

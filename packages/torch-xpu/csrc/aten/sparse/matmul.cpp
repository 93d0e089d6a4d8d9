// Products of sparse and dense matrices: a row gathered, scaled and added for each element stored.
#include <ATen/native/Resize.h>
#include <ATen/ops/_sparse_sparse_matmul.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "ops/arguments.h"
#include "ops/sparse.h"

namespace torch_xpu {
namespace {

using at::Tensor;

Tensor coordinates(const Tensor& t) {
  return t.layout() == at::kSparse ? t : t.to_sparse(at::kSparse);
}

void check_matrices(const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2, "addmm: expected matrices, got sizes ", a.sizes(), " and ",
              b.sizes());
  TORCH_CHECK(a.size(1) == b.size(0), "mat1 and mat2 shapes cannot be multiplied (", a.size(0), "x",
              a.size(1), " and ", b.size(0), "x", b.size(1), ")");
}

// sum += alpha * sparse @ dense, the elements' row in the sum and row in the dense matrix being given.
void add_product(Tensor& sum, const Tensor& to, const Tensor& from, const Tensor& values, const Tensor& dense,
                 const at::Scalar& alpha) {
  if (values.numel() == 0 || dense.numel() == 0) return;
  sum.index_add_(0, to, scaled_rows(dense.index_select(0, from), values), alpha);
}

Tensor start(const Tensor& self, const at::Scalar& beta, at::IntArrayRef sizes) {
  auto type = sum_type(self.scalar_type());
  if (beta.equal(0)) return at::zeros(sizes, self.options().dtype(type));
  auto sum = self.expand(sizes).to(type, false, true, at::MemoryFormat::Contiguous);
  return beta.equal(1) ? sum : sum.mul_(beta);
}

Tensor dense_product(const Tensor& self, const Tensor& a_, const Tensor& b_, const at::Scalar& beta,
                     const at::Scalar& alpha) {
  check_matrices(a_, b_);
  TORCH_CHECK(self.scalar_type() == a_.scalar_type() && a_.scalar_type() == b_.scalar_type(),
              "addmm: expected one dtype, got ", self.scalar_type(), ", ", a_.scalar_type(), " and ",
              b_.scalar_type());
  auto sum = start(self, beta, {a_.size(0), b_.size(1)});
  bool first = a_.layout() != at::kStrided;
  auto sparse = coordinates(first ? a_ : b_);
  auto dense = first ? b_ : a_.t();
  auto into = first ? sum : sum.t();
  TORCH_CHECK(dense.layout() == at::kStrided, "addmm: expected one dense matrix to give a dense result");
  add_product(into, sparse._indices()[first ? 0 : 1], sparse._indices()[first ? 1 : 0],
              sparse._values().to(sum.dtype()), dense.to(sum.dtype()), alpha);
  return sum.to(self.dtype());
}

Tensor& addmm_out(const Tensor& self, const Tensor& a, const Tensor& b, const at::Scalar& beta,
                  const at::Scalar& alpha, Tensor& out) {
  auto guard = guard_for(self, a, b, out);
  check_one_device(self, a, b, out);
  if (out.layout() != at::kStrided) {
    check_matrices(a, b);
    auto product = at::_sparse_sparse_matmul(coordinates(a), coordinates(b)).mul(alpha);
    auto sum = beta.equal(0) ? product : product.add(coordinates(self), beta).coalesce();
    auto result = sum.to_sparse(out.layout());
    out.resize_as_sparse_(result);
    return out.copy_(result);
  }
  auto result = dense_product(self, a, b, beta, alpha);
  at::native::resize_output(out, result.sizes());
  return out.copy_(result);
}
Tensor addmm(const Tensor& self, const Tensor& a, const Tensor& b, const at::Scalar& beta,
             const at::Scalar& alpha) {
  auto guard = guard_for(self, a, b);
  check_one_device(self, a, b);
  return dense_product(self, a, b, beta, alpha);
}
Tensor& addmm_(Tensor& self, const Tensor& a, const Tensor& b, const at::Scalar& beta,
               const at::Scalar& alpha) {
  return addmm_out(self, a, b, beta, alpha, self);
}

Tensor& addmv_out(const Tensor& self, const Tensor& a, const Tensor& v, const at::Scalar& beta,
                  const at::Scalar& alpha, Tensor& out) {
  auto guard = guard_for(self, a, v, out);
  auto result = dense_product(self.expand({a.size(0)}).unsqueeze(1), a, v.unsqueeze(1), beta, alpha);
  at::native::resize_output(out, {a.size(0)});
  return out.copy_(result.squeeze(1));
}

Tensor bmm(const Tensor& self, const Tensor& b) {
  auto guard = guard_for(self, b);
  check_one_device(self, b);
  TORCH_CHECK(self.dim() == 3 && b.dim() == 3 && self.dense_dim() == 0 && self.size(0) == b.size(0) &&
                  self.size(2) == b.size(1),
              "bmm: expected batches of matrices that can be multiplied, got sizes ", self.sizes(), " and ",
              b.sizes());
  auto indices = self._indices();
  auto type = sum_type(self.scalar_type());
  auto sum = at::zeros({self.size(0) * self.size(1), b.size(2)}, b.options().dtype(type));
  add_product(sum, indices[0].mul(self.size(1)).add_(indices[1]),
              indices[0].mul(self.size(2)).add_(indices[2]), self._values().to(type),
              b.to(type).reshape({b.size(0) * b.size(1), b.size(2)}), 1);
  return sum.view({self.size(0), self.size(1), b.size(2)}).to(b.dtype());
}
Tensor& bmm_out(const Tensor& self, const Tensor& b, Tensor& out) {
  auto result = torch_xpu::bmm(self, b);
  at::native::resize_output(out, result.sizes());
  return out.copy_(result);
}

// Each element of `a` is multiplied by the elements of one row of `b`.
Tensor sparse_product(const Tensor& a, const Tensor& b_) {
  auto guard = guard_for(a, b_);
  check_one_device(a, b_);
  check_matrices(a, b_);
  auto b = b_.coalesce();
  auto [left, right] = join_sorted(a._indices()[1], b._indices()[0].contiguous(), b.size(0));
  auto indices = at::stack({a._indices()[0].index_select(0, left), b._indices()[1].index_select(0, right)});
  auto values = a._values().index_select(0, left).mul(b._values().index_select(0, right));
  auto shape = at::empty({a.size(0), b.size(1)}, values.options().layout(at::kSparse));
  return sparse_like(shape, indices, values, false).coalesce();
}

// The dense product's elements where `self` has some.
Tensor sampled(const Tensor& self, const Tensor& a, const Tensor& b, const at::Scalar& beta,
               const at::Scalar& alpha) {
  auto guard = guard_for(self, a, b);
  check_one_device(self, a, b);
  TORCH_CHECK(self.layout() == at::kSparseCsr,
              "sampled_addmm: Expected self to be in sparse CSR layout, got ", self.layout());
  TORCH_CHECK(a.layout() == at::kStrided && b.layout() == at::kStrided,
              "sampled_addmm: Expected mat1 and mat2 to be dense");
  auto m = a.size(-2), k = a.size(-1), n = b.size(-1);
  TORCH_CHECK(b.size(-2) == k, "sampled_addmm: mat1 and mat2 shapes cannot be multiplied (", m, "x", k,
              " and ", b.size(-2), "x", n, ")");
  TORCH_CHECK(self.size(-2) == m && self.size(-1) == n, "sampled_addmm: self.shape must match mat1 @ mat2");
  auto type = sum_type(self.scalar_type());
  auto crow = self.crow_indices(), col = self.col_indices();
  auto batches = crow.numel() / crow.size(-1), count = col.size(-1);
  auto positions = at::arange(count, crow.options()).expand({batches, count}).contiguous();
  auto rows = at::searchsorted(crow.reshape({batches, m + 1}), positions, false, true).sub_(1);
  auto batch = at::arange(batches, rows.options()).unsqueeze(1);
  auto left = a.reshape({batches * m, k}).index_select(0, rows.add(batch.mul(m)).view({-1}));
  auto right = b.transpose(-2, -1)
                   .reshape({batches * n, k})
                   .index_select(0, col.reshape({batches, count}).to(at::kLong).add(batch.mul(n)).view({-1}));
  auto product = left.to(type).mul(right.to(type)).sum(-1).mul_(alpha).view_as(self.values());
  if (!beta.equal(0)) product.add_(self.values().to(type), beta);
  auto result = self.clone();
  result.values().copy_(product);
  return result;
}
Tensor& sampled_out(const Tensor& self, const Tensor& a, const Tensor& b, const at::Scalar& beta,
                    const at::Scalar& alpha, Tensor& out) {
  auto result = sampled(self, a, b, beta, alpha);
  out.resize_as_sparse_(result);
  return out.copy_(result);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, SparseXPU, m) {
  m.impl("addmm", addmm);
  m.impl("addmm_", addmm_);
  m.impl("addmm.out", addmm_out);
  m.impl("bmm", bmm);
  m.impl("bmm.out", bmm_out);
  m.impl("_sparse_sparse_matmul", sparse_product);
}

TORCH_LIBRARY_IMPL(aten, SparseCsrXPU, m) {
  m.impl("addmm.out", addmm_out);
  m.impl("addmv.out", addmv_out);
  m.impl("sparse_sampled_addmm", sampled);
  m.impl("sparse_sampled_addmm.out", sampled_out);
}

}  // namespace torch_xpu

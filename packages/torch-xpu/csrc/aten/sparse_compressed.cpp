// Compressed sparse matrices: from where rows start to a number for each element, and back.
#include <ATen/native/Resize.h>
#include <ATen/ops/_convert_indices_from_coo_to_csr_meta.h>
#include <ATen/ops/_convert_indices_from_csr_to_coo_meta.h>
#include <ATen/ops/_to_sparse_csc_native.h>
#include <ATen/ops/_to_sparse_csr_native.h>
#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/searchsorted.h>

#include "ops/structured.h"

namespace torch_xpu {
namespace {

using at::Tensor;

template <class Op>
void starts_of_rows(Op& op, const Tensor& rows, std::int64_t size, bool) {
  op.output().copy_(at::searchsorted(rows.contiguous(), at::arange(size + 1, rows.options())));
}

template <class Op>
void rows_of_elements(Op& op, const Tensor& starts, const Tensor& columns, bool, bool transposed) {
  auto& out = op.output();
  auto batches = starts.numel() / starts.size(-1), count = columns.size(-1);
  auto elements = at::arange(count, starts.options()).expand({batches, count}).contiguous();
  auto rows = at::searchsorted(starts.reshape({batches, -1}), elements, false, true).sub_(1);
  auto dims = columns.dim() - 1;
  out.select(0, dims + (transposed ? 1 : 0)).copy_(rows.view({-1}));
  out.select(0, dims + (transposed ? 0 : 1)).copy_(columns.reshape({-1}));
  auto batch = at::arange(batches, starts.options()).unsqueeze(1).expand({batches, count}).reshape({-1});
  for (auto d = dims - 1; d >= 0; --d) {
    out.select(0, d).copy_(batch.remainder(columns.size(d)));
    batch = batch.div(columns.size(d), "floor");
  }
}

// The checks of torch.sparse.check_sparse_tensor_invariants; indices may have batches.
void validate(bool by_rows, const Tensor& starts, const Tensor& plain, std::int64_t rows,
              std::int64_t columns, std::int64_t count) {
  auto guard = guard_for(starts, plain);
  auto compressed_name = by_rows ? "crow_indices" : "ccol_indices";
  auto plain_name = by_rows ? "col_indices" : "row_indices";
  auto all = [](const Tensor& t) { return t.all().item<bool>(); };
  TORCH_CHECK(all(starts.select(-1, 0).eq(0)), "`", compressed_name, "[..., 0] == 0` is not satisfied.");
  TORCH_CHECK(all(starts.select(-1, rows).eq(count)), "`", compressed_name,
              "[..., -1] == nnz` is not satisfied.");
  auto lengths = starts.diff();
  TORCH_CHECK(all(lengths.ge(0).logical_and_(lengths.le(columns))), "`0 <= ", compressed_name, "[..., 1:] - ",
              compressed_name, "[..., :-1] <= ", by_rows ? "ncols" : "nrows", "` is not satisfied.");
  TORCH_CHECK(all(plain.ge(0).logical_and_(plain.lt(columns))), "`0 <= ", plain_name, " < ",
              by_rows ? "ncols" : "nrows", "` is not satisfied.");
  if (count < 2) return;
  // Within a row they grow; where the row changes they may do anything.
  auto batches = starts.numel() / (rows + 1);
  auto elements = at::arange(count, starts.options()).expand({batches, count}).contiguous();
  auto row = at::searchsorted(starts.reshape({batches, -1}), elements, false, true);
  auto grows = plain.reshape({batches, count}).diff().gt(0);
  TORCH_CHECK(
      all(row.diff().ne(0).logical_or_(grows)), "`", plain_name, "[..., ", compressed_name,
      "[..., i - 1]:", compressed_name,
      "[..., i]] for all i = 1, ..., n are sorted and distinct along the last dimension values` is not "
      "satisfied.");
}

// Through coordinates: rows that were grouped become columns that are.
Tensor to_csc(const Tensor& self, std::optional<std::int64_t> dense_dim) {
  if (self.layout() != at::kSparseCsr || self.dim() != 2)
    return at::native::sparse_compressed_to_sparse_csc(self, dense_dim);
  return self.to_sparse(at::kSparse).to_sparse_csc(dense_dim);
}
Tensor to_csr(const Tensor& self, std::optional<std::int64_t> dense_dim) {
  if (self.layout() != at::kSparseCsc || self.dim() != 2)
    return at::native::sparse_compressed_to_sparse_csr(self, dense_dim);
  return self.to_sparse(at::kSparse).to_sparse_csr(dense_dim);
}

Tensor& add_compressed_out(const Tensor& self, const Tensor& other, const at::Scalar& alpha, Tensor& out) {
  auto guard = guard_for(self, other, out);
  check_one_device(self, other, out);
  auto coordinates = [](const Tensor& t) {
    return t.layout() == at::kStrided || t.layout() == at::kSparse ? t : t.to_sparse(at::kSparse);
  };
  auto sum = at::add(coordinates(self), coordinates(other), alpha);
  if (out.layout() == at::kStrided) {
    at::native::resize_output(out, sum.sizes());
    return out.copy_(sum);
  }
  auto compressed = sum.coalesce().to_sparse(out.layout()).to(out.scalar_type());
  out.resize_as_sparse_(compressed);
  return out.copy_(compressed);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, SparseCsrXPU, m) {
  m.impl("_to_sparse_csr", to_csr);
  m.impl("_to_sparse_csc", to_csc);
  m.impl("add.out", add_compressed_out);
}

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_validate_compressed_sparse_indices", validate);
  using CooToCsr = at::meta::structured__convert_indices_from_coo_to_csr;
  using CsrToCoo = at::meta::structured__convert_indices_from_csr_to_coo;
  structured<CooToCsr, starts_of_rows<Structured<CooToCsr, 1>>>(m, "_convert_indices_from_coo_to_csr",
                                                                "_convert_indices_from_coo_to_csr.out");
  structured<CsrToCoo, rows_of_elements<Structured<CsrToCoo, 1>>>(m, "_convert_indices_from_csr_to_coo",
                                                                  "_convert_indices_from_csr_to_coo.out");
}

}  // namespace torch_xpu

// Compressed sparse matrices: from where rows start to a number for each element, and back.
#include <ATen/native/Resize.h>
#include <ATen/ops/_convert_indices_from_coo_to_csr_meta.h>
#include <ATen/ops/_convert_indices_from_csr_to_coo_meta.h>
#include <ATen/ops/_sparse_compressed_tensor_unsafe.h>
#include <ATen/ops/_to_sparse_bsc_native.h>
#include <ATen/ops/_to_sparse_bsr_native.h>
#include <ATen/ops/_to_sparse_csc_native.h>
#include <ATen/ops/_to_sparse_csr_native.h>
#include <ATen/ops/_to_sparse_native.h>
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

// What was grouped by rows becomes grouped by columns, and the reverse; with blocks, rows and columns of
// them.
Tensor flipped(const Tensor& self) {
  auto guard = guard_for(self);
  bool by_rows = self.layout() == at::kSparseCsr || self.layout() == at::kSparseBsr;
  bool blocks = self.layout() == at::kSparseBsr || self.layout() == at::kSparseBsc;
  auto starts = by_rows ? self.crow_indices() : self.ccol_indices();
  auto plain = by_rows ? self.col_indices() : self.row_indices();
  auto values = self.values();
  auto dims = plain.dim() - 1;  // of batches
  auto count = plain.size(-1), groups = starts.size(-1) - 1;
  auto batches = starts.numel() / (groups + 1);
  std::int64_t others = self.size(dims + by_rows) / (blocks ? values.size(dims + 1 + by_rows) : 1);

  auto elements = at::arange(count, starts.options()).expand({batches, count}).contiguous();
  auto group = at::searchsorted(starts.reshape({batches, groups + 1}), elements,
                                starts.scalar_type() == at::kInt, true)
                   .sub_(1);
  auto keys = plain.reshape({batches, count}).to(at::kLong).mul(groups).add(group);
  auto order = std::get<1>(keys.sort(1));
  auto sorted = plain.reshape({batches, count}).gather(1, order).contiguous();
  auto bounds = at::arange(others + 1, starts.options()).expand({batches, others + 1}).contiguous();
  auto new_starts = at::searchsorted(sorted, bounds, starts.scalar_type() == at::kInt);
  auto new_plain = group.to(plain.scalar_type()).gather(1, order);
  auto batch = at::arange(batches, order.options()).mul_(count).unsqueeze(1);
  auto row_shape = values.sizes().slice(static_cast<std::size_t>(dims)).vec();
  row_shape[0] = batches * count;
  auto rows = values.reshape(row_shape);
  auto new_values = rows.index_select(0, order.add(batch).view({-1})).view(values.sizes());

  auto shape = starts.sizes().vec();
  shape.back() = others + 1;
  auto layout =
      blocks ? (by_rows ? at::kSparseBsc : at::kSparseBsr) : (by_rows ? at::kSparseCsc : at::kSparseCsr);
  return at::_sparse_compressed_tensor_unsafe(new_starts.view(shape), new_plain.view(plain.sizes()),
                                              new_values, self.sizes(), self.scalar_type(), layout,
                                              self.device(), false);
}

bool is_flip(const Tensor& self, at::Layout to, at::OptionalIntArrayRef blocksize = {}) {
  auto from = self.layout();
  if ((from == at::kSparseCsr && to == at::kSparseCsc) || (from == at::kSparseCsc && to == at::kSparseCsr))
    return true;
  if (!(from == at::kSparseBsr && to == at::kSparseBsc) && !(from == at::kSparseBsc && to == at::kSparseBsr))
    return false;
  auto dims = (from == at::kSparseBsr ? self.col_indices() : self.row_indices()).dim();
  return !blocksize || *blocksize == self.values().sizes().slice(dims, 2);
}

Tensor to_csc(const Tensor& self, std::optional<std::int64_t> dense_dim) {
  if (is_flip(self, at::kSparseCsc)) return flipped(self);
  return at::native::sparse_compressed_to_sparse_csc(self, dense_dim);
}
Tensor to_csr(const Tensor& self, std::optional<std::int64_t> dense_dim) {
  if (is_flip(self, at::kSparseCsr)) return flipped(self);
  return at::native::sparse_compressed_to_sparse_csr(self, dense_dim);
}
Tensor to_bsc(const Tensor& self, at::IntArrayRef blocksize, std::optional<std::int64_t> dense_dim) {
  if (is_flip(self, at::kSparseBsc, blocksize)) return flipped(self);
  return at::native::sparse_compressed_to_sparse_bsc(self, blocksize, dense_dim);
}
Tensor to_bsr(const Tensor& self, at::IntArrayRef blocksize, std::optional<std::int64_t> dense_dim) {
  if (is_flip(self, at::kSparseBsr, blocksize)) return flipped(self);
  return at::native::sparse_compressed_to_sparse_bsr(self, blocksize, dense_dim);
}
Tensor to_layout(const Tensor& self, std::optional<at::Layout> layout, at::OptionalIntArrayRef blocksize,
                 std::optional<std::int64_t> dense_dim) {
  if (layout && is_flip(self, *layout, blocksize)) return flipped(self);
  return at::native::sparse_compressed_to_sparse(self, layout, blocksize, dense_dim);
}

Tensor& add_compressed_out(const Tensor& self, const Tensor& other, const at::Scalar& alpha, Tensor& out) {
  auto guard = guard_for(self, other, out);
  check_one_device(self, other, out);
  auto coordinates = [](const Tensor& t) {
    return t.layout() == at::kStrided || t.layout() == at::kSparse ? t : t.to_sparse(at::kSparse);
  };
  // A dense one goes first, and has no factor there.
  bool swapped = other.layout() == at::kStrided && self.layout() != at::kStrided;
  auto sum = swapped ? at::add(alpha.equal(1) ? other : other.mul(alpha), coordinates(self))
                     : at::add(coordinates(self), coordinates(other), alpha);
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
  m.impl("_to_sparse_bsr", to_bsr);
  m.impl("_to_sparse_bsc", to_bsc);
  m.impl("_to_sparse", to_layout);
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

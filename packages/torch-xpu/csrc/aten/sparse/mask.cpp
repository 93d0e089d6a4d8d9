// Values of one tensor where another one has some: masks, and the gradients of sums.
#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sparse_mask_native.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "ops/arguments.h"
#include "ops/sparse.h"

namespace torch_xpu {
namespace {

using at::Tensor;

Tensor sparse_mask(const Tensor& self, const Tensor& mask) {
  auto guard = guard_for(self, mask);
  if (self.layout() != at::kSparse) return at::native::sparse_mask(self, mask);
  TORCH_CHECK(mask.sizes() == self.sizes(), "sparse_mask(): operands have incompatible sizes; self has size ",
              self.sizes(), " but mask has size ", mask.sizes());
  TORCH_CHECK(mask.sparse_dim() == self.sparse_dim(), "sparse_mask(): expected as many sparse dimensions of ",
              "self as of mask, got ", self.sparse_dim(), " and ", mask.sparse_dim());
  auto rows = rows_at(self.coalesce(), flatten_indices(mask._indices(), mask.sizes()));
  return sparse_like(self, mask._indices().clone(), rows, mask.is_coalesced());
}

// What self stores at the mask's places, times how often the mask has a place where matches accumulate.
Tensor projection(const Tensor& self, const Tensor& mask, bool accumulate) {
  auto guard = guard_for(self, mask);
  check_one_device(self, mask);
  TORCH_CHECK(mask.sizes() == self.sizes() && mask.sparse_dim() == self.sparse_dim(),
              "_sparse_mask_projection: operands have incompatible sizes or sparse dimensions: ",
              self.sizes(), " with ", self.sparse_dim(), " and ", mask.sizes(), " with ", mask.sparse_dim());
  auto sizes = mask.sizes().slice(0, mask.sparse_dim());
  auto ones = at::ones({mask._nnz()}, self.options().layout(at::kStrided));
  auto flat = at::zeros(sizes, self.options());
  auto counts = sparse_like(flat, mask._indices(), ones, mask.is_coalesced()).coalesce();
  auto factors = rows_at(counts, flatten_indices(self._indices(), sizes));
  if (!accumulate) factors = factors.ne(0);
  auto chosen = factors.nonzero().view({-1});
  auto values = scaled_rows(self._values().index_select(0, chosen), factors.index_select(0, chosen));
  return sparse_like(self, self._indices().index_select(1, chosen), values, self.is_coalesced());
}

// Each element gets the gradient of the sum that it is in.
Tensor sum_backward(const Tensor& grad_, const Tensor& self, at::IntArrayRef dims) {
  auto guard = guard_for(grad_, self);
  if (self._nnz() == 0) return at::zeros(self.sizes(), self.options());
  auto summed = at::dim_list_to_bitset(dims, self.dim());
  auto values = self._values(), grad = grad_;
  if (grad.is_sparse()) {
    auto coalesced = grad.coalesce();
    std::vector<Tensor> remaining;
    for (std::int64_t d = 0; d < self.sparse_dim(); ++d)
      if (!summed[d]) remaining.push_back(self._indices()[d]);
    grad = rows_at(coalesced, flatten_indices(at::stack(remaining), coalesced.sizes()));
  } else {
    grad = grad.unsqueeze(0);
  }
  for (auto d = self.sparse_dim(); d < self.dim(); ++d)
    if (summed[d]) grad = grad.unsqueeze(d - self.sparse_dim() + 1);
  return sparse_like(self, self._indices().clone(), grad.expand(values.sizes()).clone(), self.is_coalesced());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, SparseXPU, m) {
  m.impl("sparse_mask", sparse_mask);
  m.impl("_sparse_mask_projection", projection);
  m.impl("_sparse_sum_backward", sum_backward);
}

}  // namespace torch_xpu

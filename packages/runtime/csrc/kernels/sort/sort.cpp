#include "xpu/kernels/sort.h"

#include "kernels/sort/call.h"

namespace xpu::kernels {

void sort(Stream stream, const Tensor& values, const Tensor& indices, const Tensor& in, int dim,
          SortOptions options) {
  auto arrays = sort_arrays("sort", values, indices, in, dim);
  if (in.numel() == 0 || !(values.data || indices.data)) return;
  SortCall call(stream, arrays, options.descending, options.total_order);
  sort_rows(call.rows());
  call.finish();
}

}  // namespace xpu::kernels

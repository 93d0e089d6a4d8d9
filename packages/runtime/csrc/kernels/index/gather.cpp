// Reading through indices.
#include "kernels/index/access.h"
#include "kernels/require.h"

namespace xpu::kernels {
void gather(Stream stream, const Tensor& out, const Tensor& x, int dim, const Tensor& index,
            IndexOptions options) {
  require_same_shape("gather", out, index);
  require_no_overlap("gather", out);
  gather_elements(stream, dimension_access("gather", out, x, dim, index, options));
}

void index_select(Stream stream, const Tensor& out, const Tensor& x, int dim, const Tensor& index,
                  IndexOptions options) {
  require_no_overlap("index_select", out);
  gather_elements(stream, slices_access("index_select", out, x, dim, index, options));
}

void index(Stream stream, const Tensor& out, const Tensor& x, std::span<const Tensor> indices,
           IndexOptions options) {
  require_no_overlap("index", out);
  auto access = index_tensors_access("index", out, x, indices, options);
  expect<UsageError>(same_shape(access.elements, out), "index: the output is ", out,
                     ", expected the shape of ", access.elements);
  gather_elements(stream, access);
}

}  // namespace xpu::kernels

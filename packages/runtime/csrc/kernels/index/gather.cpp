// Reading through indices.
#include "kernels/index/access.h"
#include "kernels/require.h"

namespace xpu::kernels {
void gather(Stream stream, const Tensor& out, const Tensor& x, int dim, const Tensor& index,
            IndexOptions options) {
  require_same_shape("gather", out, index);
  require_apart("gather", out);
  take(stream, along_dimension("gather", out, x, dim, index, options));
}

void index_select(Stream stream, const Tensor& out, const Tensor& x, int dim, const Tensor& index,
                  IndexOptions options) {
  require_apart("index_select", out);
  take(stream, of_slices("index_select", out, x, dim, index, options));
}

void index(Stream stream, const Tensor& out, const Tensor& x, std::span<const Tensor> indices,
           IndexOptions options) {
  require_apart("index", out);
  auto access = of_index_tensors("index", out, x, indices, options);
  expect<UsageError>(same_shape(access.moved, out), "index: the output is ", out, ", expected the shape of ",
                     access.moved);
  take(stream, access);
}

}  // namespace xpu::kernels

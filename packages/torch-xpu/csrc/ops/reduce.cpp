#include "ops/reduce.h"

#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/ops/empty.h>

#include <array>

#include "device/errors.h"
#include "ops/elementwise/minifloat.h"
#include "ops/tensor.h"

namespace torch_xpu {

using at::Tensor;

void reduce(const xpu::kernels::Reduction& reduction, std::initializer_list<Tensor> outputs,
            std::initializer_list<Tensor> inputs, at::OptionalIntArrayRef dims,
            std::initializer_list<at::Scalar> scalars, std::optional<at::ScalarType> compute) {
  constexpr auto max_operands = xpu::kernels::Reduction::max_operands;
  std::array<xpu::Tensor, max_operands> to, from;
  c10::SmallVector<xpu::Scalar, 4> numbers;
  c10::SmallVector<int, 12> over;
  const Tensor& shape = *inputs.begin();
  auto reduced = dims ? at::dim_list_to_bitset(*dims, shape.dim()) : std::bitset<64>().set();
  for (int d = 0; d < shape.dim(); ++d)
    if (reduced[d]) over.push_back(d);
  std::size_t written = 0, read = 0;
  for (auto& t : outputs) to[written++] = view_of(t);
  // Small floats are compared and counted as the numbers they are.
  c10::SmallVector<Tensor, 2> widened;
  for (auto& t : inputs) from[read++] = view_of(is_minifloat(t) ? widened.emplace_back(t.to(at::kFloat)) : t);
  for (auto& s : scalars) numbers.push_back(scalar_of(s));
  translate_errors([&] {
    reduction(stream_of(shape), {to.data(), written}, {from.data(), read}, {over.data(), over.size()},
              {numbers.data(), numbers.size()}, compute ? std::optional(dtype_of(*compute)) : std::nullopt);
  });
}

Tensor empty_reduced(const Tensor& self, at::OptionalIntArrayRef dims, bool keepdim, at::ScalarType dtype) {
  auto reduced = dims ? at::dim_list_to_bitset(*dims, self.dim()) : std::bitset<64>().set();
  at::DimVector sizes;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    if (!reduced[d])
      sizes.push_back(self.size(d));
    else if (keepdim)
      sizes.push_back(1);
  }
  return at::empty(sizes, self.options().dtype(dtype));
}

}  // namespace torch_xpu

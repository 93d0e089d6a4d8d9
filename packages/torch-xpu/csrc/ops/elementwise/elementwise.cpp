#include "ops/elementwise/elementwise.h"

#include <array>

#include "device/errors.h"
#include "ops/tensor.h"

namespace torch_xpu {

using at::Tensor;

void elementwise(const xpu::kernels::Elementwise& kernel, std::initializer_list<Tensor> outputs,
                 at::ArrayRef<Tensor> inputs, at::ArrayRef<at::Scalar> scalars,
                 std::optional<at::ScalarType> compute) {
  const Tensor& first = *outputs.begin();
  if (first.numel() == 0) return;
  std::array<xpu::Tensor, xpu::kernels::Elementwise::max_operands> views;
  c10::SmallVector<xpu::Scalar, 8> numbers;
  std::size_t count = 0;
  for (auto& t : outputs) views[count++] = view_of(t);
  for (auto& t : inputs) views[count++] = view_of(t);
  for (auto& s : scalars) numbers.push_back(scalar_of(s));
  std::span<const xpu::Tensor> all(views.data(), count);
  translate_errors([&] {
    kernel(stream_of(first), all.first(outputs.size()), all.subspan(outputs.size()),
           {numbers.data(), numbers.size()}, compute ? std::optional(dtype_of(*compute)) : std::nullopt);
  });
}

}  // namespace torch_xpu

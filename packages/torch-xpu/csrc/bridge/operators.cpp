// Our own operators, whose schemas are lines of operators.txt: compilers look them up before the device is
// used. Their kernels are in aten/.
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "bridge/operator_schemas.h"

TORCH_LIBRARY(torch_xpu, m) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  std::istringstream lines(torch_xpu::operator_schemas);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] != '#') m.def(line.c_str(), tags);
}

// Compilers ask what an operator returns.
TORCH_LIBRARY_IMPL(torch_xpu, Meta, m) {
  m.impl("quantize_rows", [](const at::Tensor& input, at::ScalarType dtype) {
    auto sizes = input.sym_sizes().vec();
    auto numbers = at::empty_symint(sizes, input.options().dtype(dtype));
    sizes.back() = 1;
    return std::tuple(numbers, at::empty_symint(sizes, input.options().dtype(at::kFloat)));
  });
  m.impl("round_blocks", [](const at::Tensor& input, std::int64_t, std::string_view, std::string_view,
                            const std::optional<at::Tensor>&) {
    return at::empty_symint(input.sym_sizes(), input.options());
  });
  m.impl("unpack_bits", [](const at::Tensor& packed, std::int64_t bits) {
    auto sizes = packed.sym_sizes().vec();
    sizes.back() = sizes.back() / bits * 8;
    return at::empty_symint(sizes, packed.options());
  });
  m.impl("dynamic_linear", [](const at::Tensor& input, const at::Tensor& weight, const at::Tensor&,
                              const std::optional<at::Tensor>&) {
    auto sizes = input.sym_sizes().vec();
    sizes.back() = weight.sym_size(0);
    return at::empty_symint(sizes, input.options());
  });
  m.impl("low_bit_adam_", [](const at::Tensor&, const at::Tensor&, at::TensorList, at::TensorList,
                             at::TensorList, const at::Tensor&, const at::Tensor&, double, double, double,
                             double, bool, bool, const std::optional<at::Generator>&) {});
}

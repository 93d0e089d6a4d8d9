#include "kernels/call.h"

#include <algorithm>
#include <cctype>

#include "xpu/kernels/elementwise.h"

namespace xpu::kernels {

void check_name(const std::string& name, const char* what) {
  auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  expect<UsageError>(!name.empty() && std::all_of(name.begin(), name.end(), allowed), what,
                     ": the name is \"", name, "\", expected letters, digits and underscores");
}

DType compute_dtype(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                    std::optional<DType> asked) {
  if (asked) return *asked;
  if (inputs.empty()) return outputs[0].dtype;
  DType common = inputs[0].dtype;
  for (auto& in : inputs.subspan(1)) common = promote(common, in.dtype);
  return common;
}

void add_pointer(Args& args, const std::string& name, const Tensor& tensor, std::int64_t offset) {
  expect<UsageError>(tensor.data, name, ": ", tensor, " has no memory");
  args.add(static_cast<void*>(static_cast<char*>(tensor.data) +
                              offset * static_cast<std::int64_t>(size_of(tensor.dtype))));
}

void add_scalars(Args& args, DType compute, std::span<const Scalar> scalars) {
  constexpr std::size_t max_values = 2 * Elementwise::max_scalars;
  double wide[max_values] = {};
  float narrow[max_values] = {};
  std::uint64_t bits[max_values] = {};
  std::size_t n = std::max<std::size_t>(1, scalars.size()), i = 0;
  if (is_complex(compute)) {
    for (auto& s : scalars) {
      narrow[i] = static_cast<float>(wide[i] = s.real()), ++i;
      narrow[i] = static_cast<float>(wide[i] = s.imag()), ++i;
    }
    if (compute == DType::c64)
      args.add_bytes(narrow, 2 * n * sizeof(float));
    else
      args.add_bytes(wide, 2 * n * sizeof(double));
  } else if (compute == DType::f64) {
    for (auto& s : scalars) wide[i++] = s.real();
    args.add_bytes(wide, n * sizeof(double));
  } else if (is_float(compute)) {
    for (auto& s : scalars) narrow[i++] = static_cast<float>(s.real());
    args.add_bytes(narrow, n * sizeof(float));
  } else {
    for (auto& s : scalars) bits[i++] = compute == DType::boolean ? s.real() != 0 : s.integer_bits();
    args.add_bytes(bits, n * sizeof(std::uint64_t));
  }
}

}  // namespace xpu::kernels

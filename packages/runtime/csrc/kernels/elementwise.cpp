#include "xpu/kernels/elementwise.h"

#include <algorithm>
#include <cctype>

#include "kernels/elementwise_plan.h"
#include "xpu/error.h"

namespace xpu::kernels {

struct Elementwise::State {
  Expression expression;
  mutable KernelTable kernels;
};

namespace {

bool is_identifier(const std::string& name) {
  for (char c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  return !name.empty();
}

void check(const Expression& e) {
  expect<UsageError>(is_identifier(e.name), "elementwise: the name is \"", e.name,
                     "\", expected letters, digits and underscores");
  expect<UsageError>(!e.outputs.empty(), "elementwise ", e.name, ": there is no output expression");
  auto operands = static_cast<int>(e.outputs.size()) + e.inputs;
  expect<UsageError>(e.inputs >= 0 && operands <= Elementwise::max_operands, "elementwise ", e.name, ": got ",
                     operands, " operands, expected at most ", Elementwise::max_operands);
  expect<UsageError>(e.scalars >= 0 && e.scalars <= Elementwise::max_scalars, "elementwise ", e.name,
                     ": got ", e.scalars, " scalars, expected at most ", Elementwise::max_scalars);
}

void check_call(const Expression& e, std::span<const Tensor> outputs, std::span<const Tensor> inputs) {
  expect<UsageError>(
      outputs.size() == e.outputs.size() && inputs.size() == static_cast<std::size_t>(e.inputs),
      "elementwise ", e.name, ": got ", outputs.size(), " outputs and ", inputs.size(), " inputs, expected ",
      e.outputs.size(), " and ", e.inputs);
}

DType compute_dtype(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                    std::optional<DType> asked) {
  if (asked) return *asked;
  if (inputs.empty()) return outputs[0].dtype;
  DType common = inputs[0].dtype;
  for (auto& in : inputs.subspan(1)) common = promote(common, in.dtype);
  return common;
}

void add_pointer(Args& args, const Expression& e, const Plan& plan, const Tensor& t, int k) {
  expect<UsageError>(t.data, "elementwise ", e.name, ": operand ", k, ", ", t, ", has no memory");
  auto offset = plan.geometry.offset[k] * static_cast<std::int64_t>(size_of(t.dtype));
  args.add(static_cast<void*>(static_cast<char*>(t.data) + offset));
}

// As the kernel's Parameters: see parameter_type in elementwise_source.cpp.
void add_scalars(Args& args, DType compute, std::span<const Scalar> scalars) {
  alignas(8) double wide[2 * Elementwise::max_scalars] = {};
  float narrow[2 * Elementwise::max_scalars] = {};
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
    std::uint64_t bits[Elementwise::max_scalars] = {};
    for (auto& s : scalars) bits[i++] = compute == DType::boolean ? s.real() != 0 : s.integer_bits();
    args.add_bytes(bits, n * sizeof(std::uint64_t));
  }
}

}  // namespace

Elementwise::Elementwise(Expression expression) {
  check(expression);
  state_ = std::make_unique<State>();
  state_->expression = std::move(expression);
}

Elementwise::~Elementwise() = default;

const Expression& Elementwise::expression() const {
  return state_->expression;
}

void Elementwise::operator()(Stream stream, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                             std::span<const Scalar> scalars, std::optional<DType> compute) const {
  auto& e = state_->expression;
  check_call(e, outputs, inputs);
  expect<UsageError>(scalars.size() == static_cast<std::size_t>(e.scalars), "elementwise ", e.name, ": got ",
                     scalars.size(), " scalars, expected ", e.scalars);
  int device = stream.device();
  auto& shape = tuning(device);
  Plan plan = make_plan(shape, e, outputs, inputs, compute_dtype(outputs, inputs, compute));
  if (plan.count == 0) return;
  Kernel kernel = state_->kernels.find_or_make(plan.variant.key(device), [&] {
    return build_kernel(device, elementwise_source(shape, e, plan.variant), elementwise_kernel_name(e));
  });
  Args args;
  std::size_t bytes = 0;
  int k = 0;
  for (auto& t : outputs) add_pointer(args, e, plan, t, k++), bytes += size_of(t.dtype);
  for (auto& t : inputs) add_pointer(args, e, plan, t, k++), bytes += size_of(t.dtype);
  add_scalars(args, plan.variant.compute, scalars);
  NdRange range = add_geometry(args, shape, plan);
  launch(stream, kernel, range, args, bytes * static_cast<std::size_t>(plan.count));
}

std::string Elementwise::source(int device, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                                std::optional<DType> compute) const {
  check_call(state_->expression, outputs, inputs);
  auto& shape = tuning(device);
  Plan plan = make_plan(shape, state_->expression, outputs, inputs, compute_dtype(outputs, inputs, compute));
  return elementwise_source(shape, state_->expression, plan.variant);
}

}  // namespace xpu::kernels

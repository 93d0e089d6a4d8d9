#include "ops/dnn/post_ops.h"

#include "ops/tensor.h"

namespace torch_xpu {
namespace {

using xpu::dnn::PostOp;
using Kind = PostOp::Kind;

struct NamedKind {
  std::string_view name;
  Kind kind;
};
constexpr NamedKind unary_kinds[] = {
    {"relu", Kind::relu},
    {"gelu_erf", Kind::gelu_erf},
    {"gelu_tanh", Kind::gelu_tanh},
    {"silu", Kind::silu},
    {"tanh", Kind::tanh},
    {"sigmoid", Kind::sigmoid},
    {"abs", Kind::abs},
    {"sqrt", Kind::sqrt},
    {"square", Kind::square},
    {"elu", Kind::elu},
    {"clip", Kind::clip},
    {"linear", Kind::linear},
    {"hardswish", Kind::hardswish},
};
constexpr NamedKind binary_kinds[] = {
    {"add", Kind::add}, {"sub", Kind::sub}, {"mul", Kind::mul},
    {"div", Kind::div}, {"max", Kind::max}, {"min", Kind::min},
};

template <std::size_t count>
std::optional<Kind> find_kind(const NamedKind (&table)[count], std::string_view name) {
  for (auto& entry : table)
    if (entry.name == name) return entry.kind;
  return {};
}

}  // namespace

xpu::Tensor broadcast_view(const at::Tensor& operand, at::IntArrayRef result) {
  auto view = view_of(operand.expand(result));
  for (int d = 0; d < view.ndim; ++d)
    if (view.strides[d] == 0) view.shape[d] = 1;
  return view;
}

std::vector<at::Tensor> readable_operands(at::TensorList operands, at::IntArrayRef result) {
  std::vector<at::Tensor> readable;
  for (auto& operand : operands) {
    auto once = each_once(operand);
    bool copied = once.sizes() != result && !once.is_contiguous();
    readable.push_back(copied ? once.contiguous() : operand);
  }
  return readable;
}

PostOps named_post_ops(const c10::List<std::string>& names, at::ArrayRef<double> factors,
                       at::TensorList operands, at::IntArrayRef result) {
  TORCH_CHECK(factors.size() == 2 * names.size(), "expected two factors for each of ", names.size(),
              " steps, got ", factors.size());
  PostOps steps;
  std::size_t used = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names.get(i);
    if (auto kind = find_kind(unary_kinds, name)) {
      auto alpha = static_cast<float>(factors[2 * i]), beta = static_cast<float>(factors[2 * i + 1]);
      steps.push_back({*kind, alpha, beta, {}});
    } else {
      kind = find_kind(binary_kinds, name);
      TORCH_CHECK(kind, "unknown step '", name, "'");
      TORCH_CHECK(used < operands.size(), "the step '", name, "' has no operand");
      steps.push_back({*kind, 0, 0, broadcast_view(operands[used++], result)});
    }
  }
  TORCH_CHECK(used == operands.size(), "expected ", used, " operands, got ", operands.size());
  return steps;
}

void add_activation(PostOps& steps, std::string_view name,
                    const c10::List<std::optional<at::Scalar>>& scalars, std::string_view algorithm) {
  auto scalar = [&](std::size_t i) {
    TORCH_CHECK(i < scalars.size() && std::optional<at::Scalar>(scalars[i]), "the activation '", name,
                "' expects ", i + 1, " scalars");
    return std::optional<at::Scalar>(scalars[i])->to<float>();
  };
  constexpr float sixth = 1.f / 6;
  if (name == "none") return;
  if (name == "gelu") return steps.push_back({algorithm == "tanh" ? Kind::gelu_tanh : Kind::gelu_erf});
  if (name == "swish") return steps.push_back({Kind::silu});
  if (name == "leaky_relu") return steps.push_back({Kind::relu, scalar(0)});
  if (name == "hardtanh") return steps.push_back({Kind::clip, scalar(0), scalar(1)});
  if (name == "hardswish") return steps.push_back({Kind::hardswish, sixth, 0.5f});
  if (name == "hardsigmoid") {
    steps.push_back({Kind::linear, sixth, 0.5f});
    return steps.push_back({Kind::clip, 0, 1});
  }
  bool is_plain = name == "relu" || name == "sigmoid" || name == "tanh";
  TORCH_CHECK(is_plain, "unknown activation '", name, "'");
  steps.push_back({*find_kind(unary_kinds, name)});
}

void add_binary(PostOps& steps, std::string_view name, const std::optional<at::Scalar>& alpha,
                const at::Tensor& operand, at::IntArrayRef result) {
  auto kind = find_kind(binary_kinds, name);
  TORCH_CHECK(kind && *kind < Kind::max, "unknown binary step '", name, "'");
  TORCH_CHECK(!alpha || alpha->equal(1), "a binary step expects alpha = 1");
  steps.push_back({*kind, 0, 0, broadcast_view(operand, result)});
}

}  // namespace torch_xpu

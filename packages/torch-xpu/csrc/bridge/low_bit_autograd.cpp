// Shapes and gradients of torch_xpu::low_bit_linear and dequantize_low_bit, for compilers and autograd.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "bridge/low_bit_format.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Tensor call_linear(const Tensor& input, const Tensor& weight, std::string_view format,
                   const OptionalTensor& scale, const OptionalTensor& zero_point,
                   const OptionalTensor& offset, const OptionalTensor& bias, const OptionalTensor& factor) {
  using Signature =
      Tensor(const Tensor&, const Tensor&, std::string_view, const OptionalTensor&, const OptionalTensor&,
             const OptionalTensor&, const OptionalTensor&, const OptionalTensor&);
  static auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("torch_xpu::low_bit_linear", "").typed<Signature>();
  return op.call(input, weight, format, scale, zero_point, offset, bias, factor);
}

Tensor call_dequantize(const Tensor& weight, std::string_view format, const OptionalTensor& scale,
                       const OptionalTensor& zero_point, const OptionalTensor& offset, at::ScalarType dtype) {
  using Signature = Tensor(const Tensor&, std::string_view, const OptionalTensor&, const OptionalTensor&,
                           const OptionalTensor&, at::ScalarType);
  static auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("torch_xpu::dequantize_low_bit", "").typed<Signature>();
  return op.call(weight, format, scale, zero_point, offset, dtype);
}

// The weight and its scales are constants; gradients go to the input and the bias.
struct LowBitLinear : torch::autograd::Function<LowBitLinear> {
  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& weight,
                        std::string_view format, const OptionalTensor& scale,
                        const OptionalTensor& zero_point, const OptionalTensor& offset,
                        const OptionalTensor& bias, const OptionalTensor& factor) {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    auto saved = [](const OptionalTensor& t) { return t ? *t : Tensor(); };
    context->save_for_backward({weight, saved(scale), saved(zero_point), saved(offset), saved(factor)});
    context->saved_data["format"] = std::string(format);
    context->saved_data["dtype"] = static_cast<std::int64_t>(input.scalar_type());
    context->saved_data["bias_dtype"] =
        static_cast<std::int64_t>(bias && bias->defined() ? bias->scalar_type() : at::ScalarType::Undefined);
    return call_linear(input, weight, format, scale, zero_point, offset, bias, factor);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    auto saved = context->get_saved_variables();
    auto& gradient = gradients[0];
    variable_list result(8);
    auto given = [&](std::size_t i) { return saved[i].defined() ? OptionalTensor(saved[i]) : std::nullopt; };
    if (gradient.defined() && context->needs_input_grad(0)) {
      auto dtype = static_cast<at::ScalarType>(context->saved_data["dtype"].toInt());
      auto weight = call_dequantize(saved[0], context->saved_data["format"].toStringRef(), given(1), given(2),
                                    given(3), dtype);
      result[0] = gradient.matmul(weight);
      if (saved[4].defined()) result[0] = result[0].mul_(saved[4].reshape({}));
    }
    auto bias_dtype = static_cast<at::ScalarType>(context->saved_data["bias_dtype"].toInt());
    if (gradient.defined() && bias_dtype != at::ScalarType::Undefined)
      result[6] = gradient.reshape({-1, gradient.size(-1)}).sum(0).to(bias_dtype);
    return result;
  }
};

// A gradient that nobody computes must not be missing in silence.
void require_constants(const Tensor& weight, std::initializer_list<const OptionalTensor*> extras) {
  bool has_variable = weight.requires_grad();
  for (auto* extra : extras) has_variable |= *extra && (*extra)->defined() && (*extra)->requires_grad();
  TORCH_CHECK_NOT_IMPLEMENTED(!has_variable || !at::GradMode::is_enabled(),
                              "low-bit weights have no gradients, nor have their scales, zero points and "
                              "offsets: detach() them, or train dequantized weights");
}

// Returns true if a gradient is to be recorded, or there is one of forward mode.
bool is_differentiated(const OptionalTensor& t) {
  if (!t || !t->defined()) return false;
  return (t->requires_grad() && at::GradMode::is_enabled()) || t->_fw_grad(0).defined();
}

Tensor dequantize_autograd(const Tensor& weight, std::string_view format, const OptionalTensor& scale,
                           const OptionalTensor& zero_point, const OptionalTensor& offset,
                           at::ScalarType dtype) {
  require_constants(weight, {&scale, &zero_point, &offset});
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  return call_dequantize(weight, format, scale, zero_point, offset, dtype);
}

Tensor linear_autograd(const Tensor& input, const Tensor& weight, std::string_view format,
                       const OptionalTensor& scale, const OptionalTensor& zero_point,
                       const OptionalTensor& offset, const OptionalTensor& bias,
                       const OptionalTensor& factor) {
  require_constants(weight, {&scale, &zero_point, &offset, &factor});
  if (!is_differentiated(input) && !is_differentiated(bias)) {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    return call_linear(input, weight, format, scale, zero_point, offset, bias, factor);
  }
  return LowBitLinear::apply(input, weight, format, scale, zero_point, offset, bias, factor);
}

Tensor linear_meta(const Tensor& input, const Tensor& weight, std::string_view, const OptionalTensor&,
                   const OptionalTensor&, const OptionalTensor&, const OptionalTensor&,
                   const OptionalTensor&) {
  auto sizes = input.sym_sizes().vec();
  sizes.back() = weight.sym_size(0);
  return at::empty_symint(sizes, input.options());
}

Tensor dequantize_meta(const Tensor& weight, std::string_view format, const OptionalTensor&,
                       const OptionalTensor&, const OptionalTensor&, at::ScalarType dtype) {
  auto numbers = static_cast<std::int64_t>(weight.element_size()) * low_bit_format(format).numbers_in_byte;
  return at::empty_symint({weight.sym_size(0), weight.sym_size(1) * numbers}, weight.options().dtype(dtype));
}

}  // namespace

TORCH_LIBRARY_IMPL(torch_xpu, Autograd, m) {
  m.impl("low_bit_linear", linear_autograd);
  m.impl("dequantize_low_bit", dequantize_autograd);
}

TORCH_LIBRARY_IMPL(torch_xpu, Meta, m) {
  m.impl("low_bit_linear", linear_meta);
  m.impl("dequantize_low_bit", dequantize_meta);
}

}  // namespace torch_xpu

// The C functions of quantized linear layers and convolutions, onednn.q*, whose signatures PyTorch's header
// has.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/csrc/inductor/aoti_torch/utils.h>

#include "ahead/below_wrappers.h"

// See devices.cpp.
#define USE_XPU
#include <torch/csrc/inductor/aoti_torch/c/shim_xpu.h>
#undef USE_XPU

using namespace torch::aot_inductor;

namespace {

/// The arguments of a call, in the order of the operator's schema.
class Arguments {
 public:
  Arguments& tensor(AtenTensorHandle handle) {
    stack_.emplace_back(at::Tensor(*tensor_handle_to_tensor_pointer(handle)));
    return *this;
  }
  Arguments& optional_tensor(const AtenTensorHandle* handle) { return handle ? tensor(*handle) : none(); }
  Arguments& number(double value) { return push(value); }
  Arguments& number(std::int64_t value) { return push(value); }
  Arguments& optional_number(const double* value) { return value ? push(*value) : none(); }
  Arguments& optional_dtype(const std::int32_t* value) { return value ? push(std::int64_t{*value}) : none(); }
  Arguments& text(const char* value) { return push(std::string(value)); }
  Arguments& optional_text(const char* const* value) { return value ? text(*value) : none(); }
  Arguments& numbers(const std::int64_t* values, std::int64_t count) {
    return push(std::vector<std::int64_t>(values, values + count));
  }
  Arguments& optional_numbers(const double* const* values, std::int64_t count) {
    c10::List<std::optional<at::Scalar>> list;
    for (std::int64_t i = 0; i < count; ++i)
      list.push_back(values[i] ? std::optional<at::Scalar>(*values[i]) : std::nullopt);
    return push(std::move(list));
  }

  /// Calls the operator and returns its result.
  AtenTensorHandle call(const char* name, const char* overload) {
    torch_xpu::BelowWrappers below_wrappers;
    c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).callBoxed(&stack_);
    return new_tensor_handle(at::Tensor(stack_.back().toTensor()));
  }

 private:
  template <class T>
  Arguments& push(T value) {
    stack_.emplace_back(std::move(value));
    return *this;
  }
  Arguments& none() { return push(c10::IValue()); }

  torch::jit::Stack stack_;
};

}  // namespace

extern "C" {

AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu__qlinear_pointwise_tensor(
    AtenTensorHandle X, AtenTensorHandle act_scale, AtenTensorHandle act_zero_point,
    AtenTensorHandle onednn_weight, AtenTensorHandle weight_scales, AtenTensorHandle weight_zero_points,
    AtenTensorHandle* B, double output_scale, std::int64_t output_zero_point,
    const std::int32_t* output_dtype, const char* post_op_name, const double** post_op_args,
    std::int64_t post_op_args_len_, const char* post_op_algorithm,
    AtenTensorHandle* ret0){AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
  Arguments arguments;
  arguments.tensor(X).tensor(act_scale).tensor(act_zero_point).tensor(onednn_weight);
  arguments.tensor(weight_scales).tensor(weight_zero_points).optional_tensor(B);
  arguments.number(output_scale).number(output_zero_point).optional_dtype(output_dtype);
  arguments.text(post_op_name).optional_numbers(post_op_args, post_op_args_len_).text(post_op_algorithm);
  *ret0 = arguments.call("onednn::qlinear_pointwise", "tensor");
})}

AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu__qlinear_pointwise_binary_tensor(
    AtenTensorHandle X, AtenTensorHandle act_scale, AtenTensorHandle act_zero_point,
    AtenTensorHandle onednn_weight, AtenTensorHandle weight_scales, AtenTensorHandle weight_zero_points,
    AtenTensorHandle* other, AtenTensorHandle* B, double output_scale, std::int64_t output_zero_point,
    const std::int32_t* output_dtype, double other_scale, std::int64_t other_zero_point,
    const char* binary_post_op, double binary_alpha, const char* unary_post_op,
    const double** unary_post_op_args, std::int64_t unary_post_op_args_len_,
    const char* unary_post_op_algorithm, AtenTensorHandle* ret0){AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
  Arguments arguments;
  arguments.tensor(X).tensor(act_scale).tensor(act_zero_point).tensor(onednn_weight);
  arguments.tensor(weight_scales).tensor(weight_zero_points).optional_tensor(other).optional_tensor(B);
  arguments.number(output_scale).number(output_zero_point).optional_dtype(output_dtype);
  arguments.number(other_scale).number(other_zero_point).text(binary_post_op).number(binary_alpha);
  arguments.text(unary_post_op).optional_numbers(unary_post_op_args, unary_post_op_args_len_);
  arguments.text(unary_post_op_algorithm);
  *ret0 = arguments.call("onednn::qlinear_pointwise", "binary_tensor");
})}

AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu__qconv_pointwise_tensor(
    AtenTensorHandle X, AtenTensorHandle act_scale, AtenTensorHandle act_zero_point,
    AtenTensorHandle onednn_weight, AtenTensorHandle weight_scales, AtenTensorHandle weight_zero_points,
    AtenTensorHandle* B, const std::int64_t* stride, std::int64_t stride_len_, const std::int64_t* padding,
    std::int64_t padding_len_, const std::int64_t* dilation, std::int64_t dilation_len_, std::int64_t groups,
    double output_scale, std::int64_t output_zero_point, const std::int32_t* output_dtype, const char* attr,
    const double** post_op_args, std::int64_t post_op_args_len_, const char** algorithm,
    AtenTensorHandle* ret0){AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
  Arguments arguments;
  arguments.tensor(X).tensor(act_scale).tensor(act_zero_point).tensor(onednn_weight);
  arguments.tensor(weight_scales).tensor(weight_zero_points).optional_tensor(B);
  arguments.numbers(stride, stride_len_).numbers(padding, padding_len_).numbers(dilation, dilation_len_);
  arguments.number(groups).number(output_scale).number(output_zero_point).optional_dtype(output_dtype);
  arguments.text(attr).optional_numbers(post_op_args, post_op_args_len_).optional_text(algorithm);
  *ret0 = arguments.call("onednn::qconv_pointwise", "tensor");
})}

AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu__qconv2d_pointwise_binary_tensor(
    AtenTensorHandle X, AtenTensorHandle act_scale, AtenTensorHandle act_zero_point,
    AtenTensorHandle onednn_weight, AtenTensorHandle weight_scales, AtenTensorHandle weight_zero_points,
    AtenTensorHandle accum, AtenTensorHandle* B, const std::int64_t* stride_args, std::int64_t stride_len_,
    const std::int64_t* padding_args, std::int64_t padding_len_, const std::int64_t* dilation_args,
    std::int64_t dilation_len_, std::int64_t groups, double output_scale, std::int64_t output_zero_point,
    const std::int32_t* output_dtype, double accum_scale, std::int64_t accum_zero_point,
    const char* binary_attr, double* alpha, const char** unary_attr, const double** unary_scalars,
    std::int64_t unary_scalars_len_, const char** unary_algorithm, AtenTensorHandle* ret0) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
    Arguments arguments;
    arguments.tensor(X).tensor(act_scale).tensor(act_zero_point).tensor(onednn_weight);
    arguments.tensor(weight_scales).tensor(weight_zero_points).tensor(accum).optional_tensor(B);
    arguments.numbers(stride_args, stride_len_).numbers(padding_args, padding_len_);
    arguments.numbers(dilation_args, dilation_len_).number(groups);
    arguments.number(output_scale).number(output_zero_point).optional_dtype(output_dtype);
    arguments.number(accum_scale).number(accum_zero_point).text(binary_attr).optional_number(alpha);
    arguments.optional_text(unary_attr).optional_numbers(unary_scalars, unary_scalars_len_);
    arguments.optional_text(unary_algorithm);
    *ret0 = arguments.call("onednn::qconv2d_pointwise", "binary_tensor");
  })
}

}  // extern "C"

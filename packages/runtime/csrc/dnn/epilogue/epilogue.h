// Writes kernel source for the steps around a sum: dequantize operands, add the bias, apply post-ops,
// quantize the result. A step computes v from v and elements of tensors, which it calls XPU_EXTRA(1), ...
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "dnn/kernel_step.h"
#include "xpu/dnn/attributes.h"

namespace xpu::dnn {

/// An optional tensor of the call with the operand index under which it was added to the problem.
struct ExtraOperand {
  const Tensor* tensor = nullptr;
  int operand = -1;
};

class Epilogue {
 public:
  /// For `ndim` coordinates. Steps compute in `type` ("float", "double", "xpu::i32").
  Epilogue(int ndim, const char* type) : ndim_(ndim), type_(type) {}

  /// Adds a function NAME(v, index) that returns scale * (v - zero point) + offset for an operand of shape
  /// `of`.
  void dequantize(const char* name, const Tensor& of, ExtraOperand scale, ExtraOperand zero_point,
                  ExtraOperand offset = {});
  /// These add steps to xpu_epilogue(v, index, before), which runs them in order.
  void add(ExtraOperand operand) { binary(PostOp::Kind::add, operand); }
  void multiply(ExtraOperand operand) { binary(PostOp::Kind::mul, operand); }
  /// `kind` with one number for each index along dimension 1, the first dimension of the operand.
  void by_channel(PostOp::Kind kind, ExtraOperand operand);
  void apply(const PostOp& op, ExtraOperand operand);
  void step(const std::string& statement) { steps_ += "  " + statement + "\n"; }
  void dequantize(const Tensor& of, ExtraOperand scale, ExtraOperand zero_point);
  void quantize(const Tensor& of, ExtraOperand scale, ExtraOperand zero_point);

  /// A tensor of the steps.
  struct Extra {
    Tensor tensor;  ///< with `ndim` dimensions, those that are broadcast of size 1
    int operand;
    std::int64_t share[Tensor::max_dims];  ///< elements along a dimension that have one of the tensor's
  };

  /// Returns text to put before the kernel's source: functions, XPU_EXTRA_PARAMS and XPU_EXTRA_ARGS.
  std::string source() const;
  /// Returns the arguments of these parameters.
  KernelArguments arguments() const;
  /// Returns true if a step reads the previous content of the result.
  bool reads_result() const { return reads_result_; }
  const char* type() const { return type_; }
  const std::vector<std::string>& headers() const { return headers_; }
  const std::string& steps() const { return steps_; }
  const std::vector<Extra>& extras() const { return extras_; }

 private:
  std::string element(ExtraOperand extra, const Tensor* of);
  void binary(PostOp::Kind kind, ExtraOperand operand);

  int ndim_;
  const char* type_;
  bool reads_result_ = false;
  std::vector<Extra> extras_;
  std::vector<std::string> headers_{"element"};
  std::string functions_, steps_;
};

/// Adds post-ops' operands and other optional tensors to a problem, in the order that plans expect.
class ExtraOperands {
 public:
  ExtraOperand add(Problem& problem, const std::optional<Tensor>& tensor) {
    problem.number(tensor.has_value());
    return tensor ? ExtraOperand{&*tensor, problem.add(*tensor)} : ExtraOperand{};
  }
  void add(Problem& problem, const std::vector<PostOp>& post_ops);
  ExtraOperand operand(std::size_t post_op) const { return operands_[post_op]; }

  static constexpr std::size_t max_post_ops = 8;

 private:
  std::array<ExtraOperand, max_post_ops> operands_;
};

}  // namespace xpu::dnn

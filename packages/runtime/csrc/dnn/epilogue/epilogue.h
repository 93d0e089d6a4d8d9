// The source text of what a plain kernel does around its sum: dequantise operands, add the bias, apply
// post-ops, quantise the result. Each becomes a function over the element's coordinates; what they read
// becomes parameters.
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
  /// `ndim` coordinates; `type` is what is computed in ("float", "double", "xpu::i32").
  Epilogue(int ndim, const char* type) : ndim_(ndim), type_(type) {}

  /// NAME(v, index): scale * (v - zero point) for an operand of shape `of`.
  void dequantize(const char* name, const Tensor& of, ExtraOperand scale, ExtraOperand zero_point);
  /// Steps of xpu_epilogue(v, index, before), in order.
  void add(ExtraOperand operand) { binary(PostOp::Kind::add, operand); }
  void multiply(ExtraOperand operand) { binary(PostOp::Kind::mul, operand); }
  /// Adds one value for each index along dimension 1.
  void add_channel(ExtraOperand operand);
  void apply(const PostOp& op, ExtraOperand operand);
  void step(const std::string& statement) { steps_ += "  " + statement + "\n"; }
  void dequantize(const Tensor& of, ExtraOperand scale, ExtraOperand zero_point);
  void quantize(const Tensor& of, ExtraOperand scale, ExtraOperand zero_point);

  /// Comes before the kernel's source: functions, and macros XPU_EXTRA_PARAMS and XPU_EXTRA_ARGS.
  std::string source() const;
  const KernelArguments& arguments() const { return arguments_; }
  /// True when a step reads the result's memory from before.
  bool reads_result() const { return reads_result_; }

 private:
  std::string element(ExtraOperand extra, const Tensor* of);
  void binary(PostOp::Kind kind, ExtraOperand operand);

  int ndim_;
  const char* type_;
  int count_ = 0;
  bool reads_result_ = false;
  std::string parameters_, names_, functions_, steps_;
  KernelArguments arguments_;
};

/// Every post-op's operand and the bias, added to a problem in the order in which plans look for them.
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

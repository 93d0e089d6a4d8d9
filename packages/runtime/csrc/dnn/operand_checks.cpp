#include "dnn/operand_checks.h"

#include <algorithm>

#include "dnn/problem.h"
#include "xpu/error.h"

namespace xpu::dnn {
namespace {

void require_divides(const char* op, const char* of_what, const char* what,
                     const std::optional<Tensor>& operand, const Tensor& of) {
  if (!operand || operand->ndim == 0) return;
  bool fits = operand->ndim == of.ndim;
  for (int d = 0; fits && d < of.ndim; ++d)
    fits = operand->shape[d] > 0 && of.shape[d] % operand->shape[d] == 0;
  expect<UsageError>(fits, op, ": ", of_what, what, " is ", *operand, ", which does not divide the operand ",
                     of);
}

[[noreturn]] void throw_shape_error(const char* op, const char* what, const Tensor& operand, Sizes shape,
                                    std::optional<DType> dtype) {
  std::string sizes;
  for (auto size : shape) sizes += join(sizes.empty() ? "" : ",", size);
  fail<UsageError>(op, ": ", what, " is ", operand, ", expected ", dtype ? name_of(*dtype) : "the shape ",
                   "[", sizes, "]");
}

}  // namespace

void require_shape(const char* op, const char* what, const std::optional<Tensor>& operand, Sizes shape,
                   std::optional<DType> dtype) {
  if (!operand) return;
  bool fits = std::ranges::equal(Sizes(operand->shape, static_cast<std::size_t>(operand->ndim)), shape);
  if (!fits || (dtype && operand->dtype != *dtype)) [[unlikely]]
    throw_shape_error(op, what, *operand, shape, dtype);
}

void require_shape(const char* op, const char* what, const std::optional<Tensor>& operand,
                   std::initializer_list<std::int64_t> shape, std::optional<DType> dtype) {
  require_shape(op, what, operand, Sizes(shape.begin(), shape.size()), dtype);
}

void require_shape_of(const char* op, const char* what, const std::optional<Tensor>& operand,
                      const Tensor& of, std::optional<DType> dtype) {
  require_shape(op, what, operand, Sizes(of.shape, static_cast<std::size_t>(of.ndim)), dtype);
}

void require_float(const char* op, const char* what, const std::optional<Tensor>& operand) {
  expect<UsageError>(!operand || is_float(operand->dtype), op, ": ", what, " is ", describe_optional(operand),
                     ", expected floats");
}

void require_memory(const char* op, const char* what, const Tensor& operand, std::uint64_t count,
                    DType dtype) {
  bool fits =
      operand.dtype == dtype && operand.contiguous() && static_cast<std::uint64_t>(operand.numel()) >= count;
  expect<UsageError>(fits, op, ": ", what, " is ", operand, ", expected ", count, " or more contiguous ",
                     name_of(dtype));
}

void require_broadcasts(const char* op, const char* what, const std::optional<Tensor>& operand,
                        const Tensor& result) {
  if (!operand) return;
  bool fits = operand->ndim <= result.ndim;
  for (int back = 1; fits && back <= operand->ndim; ++back) {
    auto size = operand->shape[operand->ndim - back];
    fits = size == 1 || size == result.shape[result.ndim - back];
  }
  expect<UsageError>(fits, op, ": ", what, " is ", *operand, ", which does not broadcast to the result ",
                     result);
}

void require_fits(const char* op, const char* what, const Quantization& quantization, const Tensor& of) {
  require_divides(op, "the scale of ", what, quantization.scale, of);
  require_divides(op, "the zero point of ", what, quantization.zero_point, of);
  require_divides(op, "the offset of ", what, quantization.offset, of);
}

void require_fit(const char* op, const std::vector<PostOp>& post_ops, const Tensor& result) {
  for (auto& post_op : post_ops) {
    bool binary = post_op.kind >= PostOp::Kind::add && post_op.kind != PostOp::Kind::sum;
    expect<UsageError>(binary == post_op.operand.has_value(), op, ": a post-op ",
                       binary ? "has no operand" : "has an operand that it does not take");
    require_broadcasts(op, "a post-op's operand", post_op.operand, result);
  }
}

}  // namespace xpu::dnn

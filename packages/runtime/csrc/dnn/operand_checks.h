// Checks of what a call is given. Each call describes all its operands with these before it launches
// anything: nothing below looks again.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "xpu/dnn/attributes.h"
#include "xpu/tensor.h"

namespace xpu::dnn {

using Sizes = std::span<const std::int64_t>;

/// The shape that the rest of the call gives an operand, and its type where only one is taken. `op` is the
/// call, `what` the argument. Nothing is no operand.
void require_shape(const char* op, const char* what, const std::optional<Tensor>& operand, Sizes shape,
                   std::optional<DType> dtype = {});
void require_shape(const char* op, const char* what, const std::optional<Tensor>& operand,
                   std::initializer_list<std::int64_t> shape, std::optional<DType> dtype = {});
/// The shape of another operand.
void require_shape_of(const char* op, const char* what, const std::optional<Tensor>& operand,
                      const Tensor& of, std::optional<DType> dtype = {});
/// A type of real floats.
void require_float(const char* op, const char* what, const std::optional<Tensor>& operand);
/// Contiguous memory of `count` elements or more, of any shape.
void require_memory(const char* op, const char* what, const Tensor& operand, std::uint64_t count,
                    DType dtype);
/// Aligned at the last dimension, each size is 1 or the result's.
void require_broadcasts(const char* op, const char* what, const std::optional<Tensor>& operand,
                        const Tensor& result);
/// Scale and zero point of `of`, called `what`: no dimension, or as many as it, each a divisor of its size.
void require_fits(const char* op, const char* what, const Quantization& quantization, const Tensor& of);
/// The operands that post-ops need, and no others.
void require_fit(const char* op, const std::vector<PostOp>& post_ops, const Tensor& result);

}  // namespace xpu::dnn

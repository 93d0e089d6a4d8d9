// Checks of a call's operands. A call checks them all before it launches anything; later code relies on it.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "xpu/dnn/attributes.h"
#include "xpu/tensor.h"

namespace xpu::dnn {

using Sizes = std::span<const std::int64_t>;

/// All of these throw UsageError. `op` is the name of the call, `what` that of the argument. An empty operand
/// passes. `dtype` is given if only one type is supported.
void require_shape(const char* op, const char* what, const std::optional<Tensor>& operand, Sizes shape,
                   std::optional<DType> dtype = {});
void require_shape(const char* op, const char* what, const std::optional<Tensor>& operand,
                   std::initializer_list<std::int64_t> shape, std::optional<DType> dtype = {});
/// Requires the shape of `of`.
void require_shape_of(const char* op, const char* what, const std::optional<Tensor>& operand,
                      const Tensor& of, std::optional<DType> dtype = {});
/// Requires a real floating-point type.
void require_float(const char* op, const char* what, const std::optional<Tensor>& operand);
/// Requires contiguous memory of `count` elements or more, of any shape.
void require_memory(const char* op, const char* what, const Tensor& operand, std::uint64_t count,
                    DType dtype);
/// Requires that each size, aligned at the last dimension, is 1 or the result's.
void require_broadcasts(const char* op, const char* what, const std::optional<Tensor>& operand,
                        const Tensor& result);
/// Requires that scale and zero point of `of`, called `what`, have no dimension, or as many as `of`, whose
/// sizes they divide.
void require_fits(const char* op, const char* what, const Quantization& quantization, const Tensor& of);
/// Requires the operands that the post-ops need, and no others.
void require_fit(const char* op, const std::vector<PostOp>& post_ops, const Tensor& result);

}  // namespace xpu::dnn

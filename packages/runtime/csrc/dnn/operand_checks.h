// What a call is given beside its main operands must fit them: nothing below looks again.
#pragma once

#include <optional>
#include <vector>

#include "xpu/dnn/attributes.h"
#include "xpu/tensor.h"

namespace xpu::dnn {

/// Aligned at the last dimension, each size is 1 or the result's.
void require_broadcasts(const char* op, const char* what, const std::optional<Tensor>& operand,
                        const Tensor& result);
/// Scale and zero point of `of`, called `what`: no dimension, or as many as it, each a divisor of its size.
void require_fits(const char* op, const char* what, const Quantization& quantization, const Tensor& of);
/// The operands that post-ops need, and no others.
void require_fit(const char* op, const std::vector<PostOp>& post_ops, const Tensor& result);

}  // namespace xpu::dnn

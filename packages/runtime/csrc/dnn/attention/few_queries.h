// Attention of so few queries that reading the keys and values is most of the work.
#pragma once

#include "xpu/dnn/attention.h"

namespace xpu::dnn {

/// Computes attention() in one pass over keys and values and returns true, or returns false if the call is
/// not of that kind.
bool attend_few_queries(Stream stream, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                        const AttentionOptions& options);

}  // namespace xpu::dnn

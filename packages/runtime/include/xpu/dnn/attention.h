#pragma once

#include <optional>

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::dnn {

struct AttentionOptions {
  float scale = 1;
  bool causal = false;                   ///< query i sees keys up to i
  std::optional<Tensor> mask = {};       ///< broadcasts against N H S T: a float is added, a false hides
  std::optional<Tensor> logsumexp = {};  ///< f32 N H S, written when given: what a backward needs
};

/// softmax(q k^T * scale + mask) v with q N H S D, k N G T D, v N G T E and out N H S E of one type, f32,
/// bf16 or f16; G divides H (grouped queries). A query that sees no key gives zeros. Blocks of queries are
/// done one after another, so memory grows with S + T and not with S * T.
XPU_API void attention(Stream stream, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                       const AttentionOptions& options);

}  // namespace xpu::dnn

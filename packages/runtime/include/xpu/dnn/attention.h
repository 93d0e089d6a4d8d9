#pragma once

#include <optional>

#include "xpu/abi.h"
#include "xpu/generator.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::dnn {

struct AttentionOptions {
  float scale = 1;
  bool causal = false;                   ///< query i sees keys up to i
  std::optional<Tensor> mask = {};       ///< broadcasts against N H S T: a float is added, a false hides
  std::optional<Tensor> logsumexp = {};  ///< f32 N H S, written when given: what a backward needs
  float dropout = 0;                     ///< the share of weights that become 0, the others growing to match
  Philox random = {};                    ///< which: 4 numbers of each counter are used
};

/// softmax(q k^T * scale + mask) v with q N H S D, k N G T D, v N G T E and out N H S E of one type, f32,
/// bf16 or f16; G divides H (grouped queries). A query that sees no key gives zeros. Blocks of queries are
/// done one after another, so memory grows with S + T and not with S * T.
XPU_API void attention(Stream stream, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                       const AttentionOptions& options);

/// The gradients of attention() with the same tensors and options, of which the logsumexp, that it wrote,
/// must be given. The scores are computed again, so memory grows as in attention().
XPU_API void attention_backward(Stream stream, const Tensor& grad_out, const Tensor& q, const Tensor& k,
                                const Tensor& v, const Tensor& out, const Tensor& grad_q,
                                const Tensor& grad_k, const Tensor& grad_v, const AttentionOptions& options);

}  // namespace xpu::dnn

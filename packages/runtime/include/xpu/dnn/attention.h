#pragma once

#include <optional>

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::dnn {

struct AttentionOptions {
  float scale = 1;
  bool causal = false;                   ///< query i sees keys up to i
  std::optional<Tensor> mask = {};       ///< added to the scores; broadcasts against N H S T
  std::optional<Tensor> logsumexp = {};  ///< f32 N H S, written when given: what a backward needs
};

/// softmax(q k^T * scale + mask) v with q N H S D, k N G T D, v N G T E; G divides H (grouped queries).
XPU_API void attention(Stream stream, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                       const AttentionOptions& options);

}  // namespace xpu::dnn

// Splits a recurrent network into layers; each is a separate problem.
#pragma once

#include "xpu/dnn/rnn.h"

namespace xpu::dnn {

/// Returns the number of layers. Throws UsageError for shapes that do not fit together.
std::int64_t rnn_layers(const RnnTensors& tensors, const RnnOptions& options);
/// Throws UsageError for gradients whose shapes differ from those of their tensors.
void check_rnn_gradients(const RnnTensors& tensors, const RnnGradients& gradients);

/// Returns one layer of a tensor whose first dimension is the layer.
Tensor one_layer(Tensor t, std::int64_t layer);
inline std::optional<Tensor> one_layer(const std::optional<Tensor>& t, std::int64_t layer) {
  return t ? std::optional(one_layer(*t, layer)) : std::nullopt;
}
RnnTensors one_layer(const RnnTensors& all, std::int64_t layer, const Tensor& src, const Tensor& dst);
/// Returns one layer's gradients; those of source and result, which lie between layers, stay as they are.
RnnGradients one_layer(const RnnGradients& all, std::int64_t layer);

}  // namespace xpu::dnn

// The layers of a recurrent network, each a problem of its own.
#pragma once

#include "xpu/dnn/rnn.h"

namespace xpu::dnn {

/// The number of layers; throws UsageError for shapes that do not fit together.
std::int64_t rnn_layers(const RnnTensors& tensors, const RnnOptions& options);
/// The same for gradients, which have the shapes of what they are the gradients of.
void check_rnn_gradients(const RnnTensors& tensors, const RnnGradients& gradients);

/// One layer of something whose first dimension is the layer.
Tensor one_layer(Tensor t, std::int64_t layer);
inline std::optional<Tensor> one_layer(const std::optional<Tensor>& t, std::int64_t layer) {
  return t ? std::optional(one_layer(*t, layer)) : std::nullopt;
}
RnnTensors one_layer(const RnnTensors& all, std::int64_t layer, const Tensor& src, const Tensor& dst);
/// All but those of the source and the result, which are between layers.
RnnGradients one_layer(const RnnGradients& all, std::int64_t layer);

}  // namespace xpu::dnn

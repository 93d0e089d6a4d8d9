// The runtime's reductions over PyTorch's tensors.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/OptionalArrayRef.h>

#include <initializer_list>
#include <optional>

#include "xpu/kernels/reduce.h"

namespace torch_xpu {

/// Enqueues the reduction of `inputs` over `dims`, or over all dimensions. Outputs are allocated, with the
/// reduced dimensions left out or of size 1. `compute` is as in the runtime.
void reduce(const xpu::kernels::Reduction& reduction, std::initializer_list<at::Tensor> outputs,
            std::initializer_list<at::Tensor> inputs, at::OptionalIntArrayRef dims,
            std::initializer_list<at::Scalar> scalars = {}, std::optional<at::ScalarType> compute = {});

/// Most operators take an empty list for all dimensions.
inline at::OptionalIntArrayRef all_if_empty(at::OptionalIntArrayRef dims) {
  return dims && dims->empty() ? std::nullopt : dims;
}

/// Statistics of halves are floats: they keep the precision they were computed in.
inline at::ScalarType statistics_type(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

/// A tensor for the result of reducing `self` over `dims`.
at::Tensor empty_reduced(const at::Tensor& self, at::OptionalIntArrayRef dims, bool keepdim,
                         at::ScalarType dtype);

}  // namespace torch_xpu

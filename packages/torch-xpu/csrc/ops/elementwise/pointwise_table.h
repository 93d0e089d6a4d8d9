// Lines that register a pointwise operator with one expression.
#pragma once

#include "ops/elementwise/pointwise.h"
#include "ops/structured.h"

/// A structured operator whose overload has no name: POINTWISE(exp, {.real = {"xpu::exp(a)"}, .headers =
/// {"exp"}}).
#define POINTWISE(op, ...) POINTWISE_FORMS(op, op, op, #op ".out", #op "_", __VA_ARGS__)
/// Registers an operator without an in-place form.
#define POINTWISE_FUNCTION(op, ...) POINTWISE_FORMS(op, op, op, #op ".out", nullptr, __VA_ARGS__)
/// An overload for two tensors: add.Tensor, add.out, add_.Tensor.
#define POINTWISE_TENSOR(op, ...) \
  POINTWISE_FORMS(op, op##_Tensor, op.Tensor, #op ".out", #op "_.Tensor", __VA_ARGS__)
/// Registers an operator whose out form is .Tensor_out.
#define POINTWISE_TENSOR_OUT(op, ...) \
  POINTWISE_FORMS(op, op##_Tensor, op.Tensor, #op ".Tensor_out", #op "_.Tensor", __VA_ARGS__)
#define POINTWISE_SCALAR_OUT(op, ...) \
  POINTWISE_FORMS(op, op##_Scalar, op.Scalar, #op ".Scalar_out", #op "_.Scalar", __VA_ARGS__)

/// A trace name, PyTorch's meta class, and the names of the three forms.
#define POINTWISE_FORMS(name_, shape, functional, out, inplace, ...)                                  \
  ::torch_xpu::structured<at::meta::structured_##shape, [](at::TensorIteratorBase& iter, auto&&...) { \
    static const ::torch_xpu::Pointwise kernel(#name_, __VA_ARGS__);                                  \
    kernel(iter);                                                                                     \
  }>(m, #functional, out, inplace)

// Linear layers of quantized weights as functions of Python that have their fixed operands bound.
//
// A call takes the input, the numbers of the weight and the bias, and calls the operator without parsing its
// schema. Calls that a mode, autocast or a transform changes go to the function that was given as
// `otherwise`.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace torch_xpu {

/// Binds torch_xpu::low_bit_linear. The parameters are tensors or None.
pybind11::object bind_low_bit_linear(pybind11::object otherwise, std::string format, pybind11::object scale,
                                     pybind11::object zero_point, pybind11::object offset);
/// Binds torch_xpu::dynamic_linear. The operator has no gradient: where one is wanted, `otherwise` is called,
/// and for inputs without elements and inputs that are no floats.
pybind11::object bind_dynamic_linear(pybind11::object otherwise, pybind11::object scale);

}  // namespace torch_xpu

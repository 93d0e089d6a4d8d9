// Tensors as arguments of the runtime's launches from Python.
#pragma once

namespace torch_xpu {

/// Tells the runtime's Python how to read a tensor's address.
void register_tensor_type();

}  // namespace torch_xpu

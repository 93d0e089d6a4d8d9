// Addresses of arrays and tensors of every framework, for the arguments of a launch.
#pragma once

#include <cstddef>

#include "bindings.h"
#include "xpu/module.h"

namespace xpu::bindings {

/// An adapter's function that gives the address of a tensor for work on `stream`, and the device that it is
/// on. It also orders the stream after the work that produces the tensor. Returns false with a Python
/// exception set.
using AddressOf = bool (*)(PyObject* tensor, Stream stream, void** address, int* device);

/// Returns true and the address if `value` is an array or a tensor. Throws UsageError, which names the kernel
/// and the argument, for those of another device.
bool find_address(py::handle value, const Kernel& kernel, std::size_t index, Stream stream, void** address);

}  // namespace xpu::bindings

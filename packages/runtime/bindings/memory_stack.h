// The Python half of strict memory's message.
#pragma once

namespace xpu::bindings {

/// Lets the fault handler of strict memory print the Python stack.
void print_python_stack_on_fault();

}  // namespace xpu::bindings

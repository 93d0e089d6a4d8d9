// Loads the library of the runtime and the operators in a process without Python.
#pragma once

namespace torch_xpu {

class Runtime;

/// Loads libtorch_xpu_device.so from the folder of this library. Throws c10::Error with the reason if that
/// fails.
Runtime& load_device_library();

}  // namespace torch_xpu

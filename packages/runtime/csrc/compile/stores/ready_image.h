// Native images of the kernels that ship, in the package xpu-cpu-images: the pinned driver made them for CPUs
// with AVX2 and with AVX-512.
#pragma once

namespace xpu {

/// True if images are installed and in use. They may be for another driver. Needs no device.
bool has_ready_images();
/// Lets the process load them or build them anew. It loads them at first. Thread-safe.
void use_ready_images(bool wanted);

}  // namespace xpu

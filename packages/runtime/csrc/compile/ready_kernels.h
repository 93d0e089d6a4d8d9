// Kernels that programs meet first ship with the library as SPIR-V, and in another wheel as native images
// that the pinned driver made for CPUs with AVX2 and with AVX-512.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compile/sha256.h"
#include "xpu/cache.h"

namespace xpu::ready_kernels {

/// Returns the SPIR-V that Builder::ready_key() names, if it ships.
std::optional<Bytes> find(const Sha256::Digest& key);
/// Returns the SPIR-V of all kernels that ship for a device.
std::vector<Bytes> of_device(int device);

/// Returns the keys of what each program of the zoo wanted on such a device, in order of first use.
std::vector<std::vector<Sha256::Digest>> programs_of_device(int device);

/// True if images are installed and not turned off. They may be for another driver. Needs no device.
bool has_images();
/// The key of a native image for CPUs whose vector registers have so many bytes.
Sha256::Digest image_key(int device, const Bytes& spirv, int vector_bytes);
/// Returns the native image of SPIR-V, if one ships for this device and its driver.
std::optional<Bytes> find_image(int device, const Bytes& spirv);

/// How many of the kernels that ship for a device have an image that find_image() returns.
std::size_t count_images(int device);

}  // namespace xpu::ready_kernels

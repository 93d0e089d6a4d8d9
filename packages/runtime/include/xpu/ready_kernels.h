// Kernels that ship, with this library and in packages of compiled programs: what makes them, and what finds
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "xpu/abi.h"

namespace xpu {

struct ReadyKernel {
  std::vector<std::uint8_t> key, spirv;
};
/// Returns SPIR-V to ship with the library, and the key under which a process finds it. `cpu_vector_bytes` is
/// that of the CPUs it is for, or 0.
XPU_API ReadyKernel build_ready_kernel(int device, std::string_view source,
                                       const std::vector<std::string>& options, int sub_group_size,
                                       int cpu_vector_bytes);
/// Returns the SPIR-V of all kernels that ship for the device, none if its backend does not use SPIR-V. A
/// program that wants one of them builds the same module, so that building it ahead fills the cache.
XPU_API std::vector<std::vector<std::uint8_t>> ready_spirv(int device);
/// How many of them have a native image in the package xpu-cpu-images that this process loads.
XPU_API std::size_t ready_image_count(int device);
/// Lets this process load such images, as it does at first, or build what they have anew. Thread-safe.
XPU_API void use_images_that_ship(bool wanted);
/// Returns the native image of SPIR-V that the driver makes in a helper process, to ship for other machines.
XPU_API std::vector<std::uint8_t> build_ready_image(int device, const std::vector<std::uint8_t>& spirv);
/// The key of an image that ships for CPUs whose vector registers have so many bytes.
XPU_API std::vector<std::uint8_t> ready_image_key(int device, const std::vector<std::uint8_t>& spirv,
                                                  int vector_bytes);

/// What a package holds of a kernel, by key: SPIR-V, and native code of the device if it has any.
struct PackageEntry {
  std::vector<std::uint8_t> key, content;
};
/// Builds a kernel for a package, unless caches have it. CPU devices get the SPIR-V of other CPUs too.
/// Blocks.
XPU_API std::vector<PackageEntry> build_package_entries(int device, std::string_view source);
/// Lets builds of this process take kernels from a file that xpu_runtime.ready_kernels.package() wrote. It
/// must not change, but may be deleted. Throws UsageError if it cannot be opened; what is damaged in it is a
/// miss and one warning. Thread-safe; the same file twice is one.
XPU_API void add_kernels(const std::string& path);

}  // namespace xpu

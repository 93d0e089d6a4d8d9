// An image of the generic mode: SYCL's image and the kernels' parameters, which SYCL's image does not
// contain.
#pragma once

#include <optional>

#include "compile/program/spirv.h"
#include "xpu/cache.h"

namespace xpu {

struct KernelImage {
  Signatures signatures;
  Bytes syclbin;
};

Bytes pack_image(const KernelImage& image);
/// Returns nullopt for bytes that pack_image() did not write.
std::optional<KernelImage> unpack_image(const Bytes& packed);

}  // namespace xpu

// An image of the generic mode: what its kernels take, which SYCL's images do not say, and SYCL's image.
#pragma once

#include <optional>

#include "compile/spirv.h"
#include "xpu/cache.h"

namespace xpu {

struct KernelImage {
  Signatures signatures;
  Bytes syclbin;
};

Bytes pack_image(const KernelImage& image);
/// Returns nothing for what pack_image did not write.
std::optional<KernelImage> unpack_image(const Bytes& packed);

}  // namespace xpu

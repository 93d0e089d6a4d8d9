#include "kernels/copy/channels_copy.h"

#include <limits>
#include <utility>

#include "compile/source/embedded.h"
#include "kernels/geometry.h"
#include "kernels/kernel_table.h"
#include "process/immortal.h"
#include "xpu/error.h"

namespace xpu::kernels {
namespace {

constexpr std::int64_t max_channels = 4;

// Lengths and strides in elements.
struct Images {
  std::int64_t images = 1, channels, pixels, plane, dst_image = 0, src_image = 0;
  bool to_planes;
};

// From the joined dimensions, the fastest of the destination first: pixels, channels, perhaps images; or
// channels, pixels, perhaps images.
bool is_images(const Geometry& g, Images& found) {
  if (g.dims < 2 || g.dims > 3) return false;
  auto &dst = g.stride[0], &src = g.stride[1];
  found.to_planes = src[1] == 1;
  int c = found.to_planes ? 1 : 0, p = 1 - c;
  auto &pixel_side = found.to_planes ? src : dst, &plane_side = found.to_planes ? dst : src;
  found.channels = g.size[c];
  found.pixels = g.size[p];
  found.plane = plane_side[c];
  if (g.dims == 3) {
    found.images = g.size[2];
    found.dst_image = dst[2];
    found.src_image = src[2];
  }
  return found.channels <= max_channels && pixel_side[c] == 1 && pixel_side[p] == found.channels &&
         plane_side[p] == 1;
}

bool whole_words(const Images& of, std::int64_t per) {
  for (auto length : {of.pixels, of.plane, of.dst_image, of.src_image})
    if (length % per != 0 || length < 0) return false;
  return of.pixels / per * of.images <= std::numeric_limits<std::int32_t>::max();
}

SharedKernel build(int device, std::size_t size, const Images& of) {
  auto source = join("#define XPU_BITS ", size * 8, "\n#define XPU_CHANNELS ", of.channels, "\n",
                     kernel_source("channels.sycl"));
  return build_shared_kernel(device, source, of.to_planes ? "pixels_to_planes" : "planes_to_pixels");
}

}  // namespace

bool copy_channels(Stream stream, const Tensor& dst, const Tensor& src) {
  std::size_t size = size_of(dst.dtype);
  if (size > 2) return false;
  Geometry g = coalesce({&dst, 1}, {&src, 1}, "copy", false);
  Images of;
  if (!is_images(g, of)) return false;
  auto per = static_cast<std::int64_t>(4 / size);
  auto at = [&](const Tensor& t, int operand) {
    return reinterpret_cast<std::uintptr_t>(t.data) + g.offset[operand] * size;
  };
  auto to = at(dst, 0), from = at(src, 1);
  if (!whole_words(of, per) || to % 4 != 0 || from % 4 != 0) return false;

  static auto& kernels = immortal<KernelTable>();
  int device = stream.device();
  KernelKey key{static_cast<std::uint64_t>(device),
                static_cast<std::uint64_t>(of.channels) << 3 | size << 1 | (of.to_planes ? 1u : 0u)};
  Kernel kernel = kernels.find_or_make(key, [&] { return build(device, size, of); });
  auto words = static_cast<std::uint32_t>(of.pixels / per), images = static_cast<std::uint32_t>(of.images);
  constexpr std::size_t group = 256;
  launch(stream, kernel, NdRange::linear((std::size_t{words} * images + group - 1) / group, group),
         args(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), words, images,
              of.dst_image / per, of.src_image / per, of.plane / per),
         static_cast<std::size_t>(g.count) * size * 2);
  return true;
}

}  // namespace xpu::kernels

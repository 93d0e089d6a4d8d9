#include "pjrt/transfers/gather.h"

#include <cstring>
#include <vector>

namespace xla_xpu {
namespace {

struct Axis {
  std::int64_t size, stride;
};

// Joins neighboring axes that are contiguous with each other, and drops axes of one element.
std::vector<Axis> merge_axes(std::span<const std::int64_t> dims, std::span<const std::int64_t> strides) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (!axes.empty() && axes.back().stride == strides[i] * dims[i])
      axes.back() = {axes.back().size * dims[i], strides[i]};
    else
      axes.push_back({dims[i], strides[i]});
  }
  return axes;
}

template <std::size_t item>
void copy_row(char* dst, const char* src, Axis axis) {
  for (std::int64_t i = 0; i < axis.size; ++i) std::memcpy(dst + i * item, src + i * axis.stride, item);
}

void copy_row(char* dst, const char* src, std::size_t item, Axis axis) {
  if (axis.stride == static_cast<std::int64_t>(item)) {
    std::memcpy(dst, src, axis.size * item);
    return;
  }
  switch (item) {
    case 1:
      return copy_row<1>(dst, src, axis);
    case 2:
      return copy_row<2>(dst, src, axis);
    case 4:
      return copy_row<4>(dst, src, axis);
    case 8:
      return copy_row<8>(dst, src, axis);
    default:
      return copy_row<16>(dst, src, axis);
  }
}

}  // namespace

bool is_contiguous(std::size_t item, std::span<const std::int64_t> dims,
                   std::span<const std::int64_t> strides) {
  auto axes = merge_axes(dims, strides);
  return axes.empty() || (axes.size() == 1 && axes[0].stride == static_cast<std::int64_t>(item));
}

void gather(void* dst, const void* src, std::size_t item, std::span<const std::int64_t> dims,
            std::span<const std::int64_t> strides) {
  for (auto dim : dims)
    if (dim == 0) return;
  auto axes = merge_axes(dims, strides);
  if (axes.empty()) axes.push_back({1, static_cast<std::int64_t>(item)});
  Axis inner = axes.back();
  axes.pop_back();
  std::vector<std::int64_t> index(axes.size());
  auto* out = static_cast<char*>(dst);
  const auto* in = static_cast<const char*>(src);
  while (true) {
    copy_row(out, in, item, inner);
    out += inner.size * item;
    std::size_t axis = axes.size();
    while (axis-- > 0) {
      in += axes[axis].stride;
      if (++index[axis] < axes[axis].size) break;
      in -= axes[axis].stride * axes[axis].size;
      index[axis] = 0;
    }
    if (axis == static_cast<std::size_t>(-1)) return;
  }
}

}  // namespace xla_xpu

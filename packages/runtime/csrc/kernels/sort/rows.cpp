#include "kernels/sort/rows.h"
#include "process/immortal.h"

#include <algorithm>
#include <bit>

#include "compile/source/embedded.h"
#include "kernels/dtype_text.h"
#include "kernels/tuning.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu::kernels {
namespace {

// The kernel's argument; has the layout of Rows in kernels/sort_rows.sycl.
struct Rows {
  std::int64_t count, n, keep;  // as in RowSort
  std::int64_t each;            // rows that a group sorts
  std::uint64_t flip;           // as in RowSort
};

// Elements of a lane, and the words of counters in tile_sort.h.
constexpr int max_items = 8, min_items = 2, tile_words = 8;
// Elements that a group of the CPU device should sort, so that starting it costs less than sorting them.
constexpr std::int64_t min_work = 4096;

}  // namespace

SortShape sort_shape(int device, std::size_t element_bytes) {
  auto& tune = tuning(device);
  // On the CPU device an item sorts a row alone. Its two copies of keys and 16-bit positions, and its counts,
  // must fit into 64 KB of local memory, which every device has.
  if (tune.sub_groups == 1) return {1, 1, element_bytes > 4 ? 2048 : 4096};
  int lanes = tune.sub_groups * tune.sub_group, items = max_items;
  auto tile_bytes = [&] {
    return static_cast<std::size_t>(lanes) *
           (static_cast<std::size_t>(items) * (element_bytes + 4) + tile_words * 4);
  };
  // 6144 bytes are for the scans within a group, the digits of a pass and the padding of tiles.
  while (items > 1 && tile_bytes() + 6144 > device_info(device).local_memory) items /= 2;
  return {lanes, items, static_cast<std::int64_t>(lanes) * items};
}

std::string sort_prelude(const RowSort& sort) {
  static const char* const orders[] = {"xpu::kNumbers", "xpu::kValues", "xpu::kTotal"};
  return join("#include <xpu/convert.h>\n#include <xpu/sort_key.h>\nusing T = ", value_type(sort.dtype),
              ";\nusing POSITION = ", value_type(sort.index_dtype), ";\n#define ORDER ",
              orders[static_cast<int>(sort.order)], "\n");
}

KernelKey sort_key(const RowSort& sort, int variant) {
  return {static_cast<std::uint64_t>(sort.stream.device()),
          static_cast<std::uint64_t>(sort.dtype) | static_cast<std::uint64_t>(sort.index_dtype) << 8 |
              static_cast<std::uint64_t>(sort.order) << 16 | static_cast<std::uint64_t>(variant) << 32};
}

void sort_short_rows(const RowSort& sort, const SortShape& shape) {
  static auto& kernels = immortal<KernelTable>();
  // Take the smallest group that holds a row, but in coarse steps, because each pair of lanes and items is a
  // kernel to compile: lanes are divided by 4 and a lane's elements by 2.
  int lanes = shape.lanes, items = shape.items;
  if (lanes > 1) {
    int sub_group = tuning(sort.stream.device()).sub_group;
    while (lanes / 4 >= sub_group && lanes / 4 * shape.items >= sort.n) lanes /= 4;
    while (items / 2 >= min_items && lanes * (items / 2) >= sort.n) items /= 2;
  }
  Kernel kernel = kernels.find_or_make(sort_key(sort, lanes * 32 + items), [&] {
    return build_shared_kernel(
        sort.stream.device(),
        join(sort_prelude(sort), "#define LANES ", lanes, "\n#define ITEMS ", items, "\n#define CAPACITY ",
             shape.capacity, "\n", kernel_source("sort_rows.sycl")),
        "sort_rows");
  });
  Rows rows{sort.count, sort.n, sort.keep, 1, sort.flip()};
  if (lanes == 1) rows.each = std::max<std::int64_t>(1, min_work / sort.n);
  auto groups = static_cast<std::size_t>((rows.count + rows.each - 1) / rows.each);
  launch(sort.stream, kernel, NdRange::linear(groups, static_cast<std::size_t>(lanes)),
         args(sort.in, sort.origin, sort.values, sort.indices, rows), sort.size() * size_of(sort.dtype));
}

void sort_rows(const RowSort& sort) {
  auto shape = sort_shape(sort.stream.device(), size_of(sort.dtype));
  if (sort.n <= shape.capacity)
    sort_short_rows(sort, shape);
  else
    sort_long_rows(sort, shape);
}

}  // namespace xpu::kernels

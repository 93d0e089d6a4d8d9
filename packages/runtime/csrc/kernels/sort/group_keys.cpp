#include "kernels/sort/group_keys.h"
#include "process/immortal.h"

#include <algorithm>

#include "compile/source/embedded.h"
#include "kernels/kernel_table.h"
#include "kernels/tuning.h"
#include "xpu/error.h"
#include "xpu/kernels/scan.h"

namespace xpu::kernels {
namespace {

constexpr int digit_bits = 8, digits = 1 << digit_bits;
constexpr std::int64_t min_chunk = 256, max_chunks = 4096;

// As in the kernel source.
struct Chunks {
  std::int64_t n, chunk, chunks;
  std::int32_t shift, unused;
};

Kernel kernel_of(int device, const char* name, int which, bool wide) {
  static auto& table = immortal<KernelTable>();
  KernelKey key{static_cast<std::uint64_t>(device), static_cast<std::uint64_t>(which * 2 + wide)};
  return table.find_or_make(key, [&] {
    auto source = join("#include <xpu/core.h>\nusing Word = ", wide ? "xpu::u64" : "xpu::u32", ";\n",
                       kernel_source("group_keys.sycl"));
    return build_shared_kernel(device, source, name);
  });
}

}  // namespace

KeyGroups group_keys(Stream stream, ScratchBuffer keys, std::int64_t n, int bits, bool wide) {
  int device = stream.device();
  auto& tune = tuning(device);
  std::size_t word = wide ? 8 : 4;
  std::int64_t wanted = std::clamp<std::int64_t>(
      n / min_chunk, 1, std::min<std::int64_t>(std::int64_t{tune.tiles} * tune.sub_group, max_chunks));
  Chunks c{n, (n + wanted - 1) / wanted, 0, 0, 0};
  c.chunks = (n + c.chunk - 1) / c.chunk;
  ScratchBuffer counts(stream, static_cast<std::size_t>(digits * c.chunks) * word), positions;
  Tensor count_line(counts.data(), wide ? DType::u64 : DType::u32, {digits * c.chunks});
  Kernel count = kernel_of(device, "count_digits", 0, wide), place = kernel_of(device, "place_keys", 1, wide);
  auto range = tile_range(tune, (c.chunks + tune.sub_group - 1) / tune.sub_group);
  auto bytes = static_cast<std::size_t>(n) * word;
  // With no bits to sort by there is one pass all the same, which gives the positions.
  do {
    ScratchBuffer keys_out(stream, bytes), positions_out(stream, bytes);
    launch(stream, count, range, args(keys.data(), counts.data(), c), bytes);
    cumsum(stream, count_line, count_line, 0, {.exclusive = true});
    launch(stream, place, range,
           args(keys.data(), positions.data(), keys_out.data(), positions_out.data(), counts.data(), c),
           4 * bytes);
    keys = std::move(keys_out), positions = std::move(positions_out);
    c.shift += digit_bits;
  } while (c.shift < bits);
  return {std::move(keys), std::move(positions)};
}

}  // namespace xpu::kernels

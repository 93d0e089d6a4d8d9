#include "kernels/sort/many.h"

#include <algorithm>

#include "compile/source/embedded.h"
#include "kernels/scratch_buffer.h"
#include "kernels/tuning.h"
#include "process/immortal.h"
#include "xpu/copy.h"

namespace xpu::kernels {
namespace {

// As in kernels/topk_many.sycl and device/xpu/radix_select.h.
struct Rows {
  std::int64_t count, n, keep, chunk, blocks;
  std::uint64_t flip;
};
constexpr std::int64_t digit_bits = 11, digits = 1 << digit_bits;
constexpr std::size_t found_bytes = 16, share_bytes = 8;

// Groups that fill a device with work-items, and counters of digits that rows have together.
constexpr std::int64_t max_groups = 1024, min_block = 8192, max_counts = std::int64_t{1} << 24;
enum Which : int { count_digits, share, write };

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

struct Selection {
  const RowSort& rows;
  Stream stream = rows.stream;
  const Tuning& tune = tuning(stream.device());
  int lanes = tune.sub_groups * tune.sub_group;
  std::int64_t element = static_cast<std::int64_t>(size_of(rows.dtype)),
               rounds = ceil_div(element * 8, digit_bits);

  Kernel kernel(Which which) const {
    static auto& kernels = immortal<KernelTable>();
    static const char* const names[] = {"select_count", "select_share", "select_write"};
    return kernels.find_or_make(sort_key(rows, which), [&] {
      return build_shared_kernel(
          stream.device(),
          join(sort_prelude(rows), "#define LANES ", lanes, "\n", kernel_source("topk_many.sycl")),
          names[which]);
    });
  }

  /// Cuts `count` rows into blocks of equal parts of a group's sub-groups.
  Rows cut(std::int64_t count) const {
    auto wanted = std::min(std::min<std::int64_t>(tune.tiles / 2, max_groups) / count, rows.n / min_block);
    std::int64_t chunk = ceil_div(ceil_div(rows.n, std::max<std::int64_t>(1, wanted)), lanes) * lanes;
    return {count, rows.n, rows.keep, chunk, ceil_div(rows.n, chunk), rows.flip()};
  }

  void run_part(const Rows& part, std::int64_t first) const {
    auto in = static_cast<const char*>(rows.in) + first * rows.n * element;
    auto at = [&](void* out, DType dtype) {
      auto skipped = first * rows.keep * static_cast<std::int64_t>(size_of(dtype));
      return out ? static_cast<char*>(out) + skipped : nullptr;
    };
    auto groups = static_cast<std::size_t>(part.count * part.blocks),
         all_rounds = static_cast<std::size_t>(part.count * rounds), count_bytes = all_rounds * digits * 4;
    NdRange range = NdRange::linear(groups, static_cast<std::size_t>(lanes));
    ScratchBuffer counts(stream, count_bytes), found(stream, all_rounds * found_bytes),
        shares(stream, groups * static_cast<std::size_t>(tune.sub_groups) * share_bytes);
    fill_bytes(stream, counts.data(), 0, count_bytes);
    auto bytes = static_cast<std::size_t>(part.count * part.n * element);
    for (int round = 0; round < rounds; ++round)
      launch(stream, kernel(count_digits), range, args(in, counts.data(), found.data(), part, round), bytes);
    launch(stream, kernel(share), range, args(in, counts.data(), found.data(), shares.data(), part), bytes);
    launch(stream, kernel(write), range,
           args(in, rows.origin, found.data(), shares.data(), at(rows.values, rows.dtype),
                at(rows.indices, rows.index_dtype), part),
           bytes);
  }

  void run() const {
    std::int64_t together = std::max<std::int64_t>(1, max_counts / (rounds * digits));
    for (std::int64_t first = 0; first < rows.count; first += together)
      run_part(cut(std::min(together, rows.count - first)), first);
  }
};

}  // namespace

void many_of_rows(const RowSort& rows) {
  Selection{rows}.run();
}

}  // namespace xpu::kernels

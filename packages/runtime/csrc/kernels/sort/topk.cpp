#include <algorithm>

#include "compile/source/embedded.h"
#include "kernels/dtype_text.h"
#include "kernels/scratch_buffer.h"
#include "kernels/sort/call.h"
#include "kernels/sort/few.h"
#include "kernels/sort/many.h"
#include "kernels/tuning.h"
#include "process/immortal.h"
#include "xpu/error.h"
#include "xpu/kernels/sort.h"

namespace xpu::kernels {
namespace {

// As in kernels/select_radix.sycl.
struct Rows {
  std::int64_t count, n, keep, chunk, blocks;
  std::uint64_t flip;
};
constexpr std::size_t found_bytes = 16, share_bytes = 16;

constexpr std::int64_t min_block = 8192, max_blocks = 128, max_counts = std::int64_t{1} << 24;
// A bound pays when few are sought of many: parties a row, for each one sought and at least; elements of a
// party.
constexpr std::int64_t parties_each = 8, min_parties = 512, min_party_length = 16;
enum Which : int { find_minima, collect, count_digits, take_digit, write };

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

NdRange items(std::int64_t count) {
  return NdRange::linear(static_cast<std::size_t>(count), 1);
}

/// Gives the rows' first elements in the order of the rows, as suits the CPU device.
struct Selection {
  const RowSort& rows;
  Stream stream = rows.stream;
  const Tuning& tune = tuning(stream.device());
  std::int64_t element = static_cast<std::int64_t>(size_of(rows.dtype)), digit_bits = element == 1 ? 8 : 11,
               passes = ceil_div(element * 8, digit_bits), digits = std::int64_t{1} << digit_bits,
               parties = party_count();

  Kernel kernel(Which which) const {
    static auto& kernels = immortal<KernelTable>();
    static const char* const names[] = {"select_minima", "select_collect", "select_count", "select_digit",
                                        "select_write"};
    return kernels.find_or_make(sort_key(rows, which * 2 + (parties > 0)), [&] {
      return build_shared_kernel(stream.device(),
                                 join(sort_prelude(rows), "#define COLLECTED ", parties > 0, "\n",
                                      kernel_source("select_radix.sycl")),
                                 names[which]);
    });
  }

  /// 0: no bound.
  std::int64_t party_count() const {
    std::int64_t wanted =
        std::max(min_parties, ceil_div(rows.keep * parties_each, tune.sub_group) * tune.sub_group);
    bool pays = wanted * min_party_length <= rows.n &&
                wanted <= sort_shape(stream.device(), size_of(rows.dtype)).capacity;
    return pays ? wanted : 0;
  }

  Rows cut(std::int64_t count, std::int64_t blocks) const {
    Rows part{count, rows.n, rows.keep, ceil_div(rows.n, blocks), 0, rows.flip()};
    part.blocks = ceil_div(rows.n, part.chunk);
    return part;
  }

  std::size_t bytes(std::int64_t elements) const { return static_cast<std::size_t>(elements * element); }

  /// The smallest of the parties' smallest keys, `keep` a row.
  ScratchBuffer bounds(const char* in, std::int64_t count) const {
    Rows part = cut(count, parties / tune.sub_group);
    std::int64_t found = part.blocks * tune.sub_group;
    ScratchBuffer minima(stream, bytes(count * found)), sorted(stream, bytes(count * rows.keep));
    launch(stream, kernel(find_minima), tile_range(tune, count * part.blocks), args(in, minima.data(), part),
           bytes(count * rows.n));
    sort_rows({stream, rows.name, bits_type(rows.dtype), SortOrder::values, false, count, found, rows.keep,
               minima.data(), nullptr, sorted.data(), nullptr, DType::i64});
    return sorted;
  }

  void run_part(const Rows& part, std::int64_t first) const {
    auto in = static_cast<const char*>(rows.in) + first * rows.n * element;
    auto at = [&](void* out, DType dtype) {
      auto skipped = first * rows.keep * static_cast<std::int64_t>(size_of(dtype));
      return out ? static_cast<char*>(out) + skipped : nullptr;
    };
    auto tasks = static_cast<std::size_t>(part.count * part.blocks);
    auto sub_groups = tile_range(tune, part.count * part.blocks);
    ScratchBuffer keys, positions, candidates;
    if (parties) {
      keys = ScratchBuffer(stream, bytes(part.count * part.n));
      positions = ScratchBuffer(stream, static_cast<std::size_t>(part.count * part.n) * 4);
      candidates = ScratchBuffer(stream, tasks * 4);
      ScratchBuffer bound = bounds(in, part.count);
      launch(stream, kernel(collect), sub_groups,
             args(in, bound.data(), keys.data(), positions.data(), candidates.data(), part),
             bytes(part.count * part.n));
    }
    ScratchBuffer counts(stream, tasks * static_cast<std::size_t>(digits) * 4),
        found(stream, static_cast<std::size_t>(part.count) * found_bytes),
        shares(stream, tasks * share_bytes);
    Kernel count = kernel(count_digits), take = kernel(take_digit);
    for (int pass = 0; pass < passes; ++pass) {
      int last = pass + 1 == passes;
      launch(stream, count, items(part.count * part.blocks),
             args(in, keys.data(), candidates.data(), found.data(), counts.data(), part, pass));
      launch(stream, take, items(part.count),
             args(counts.data(), found.data(), shares.data(), part, pass, last));
    }
    launch(stream, kernel(write), sub_groups,
           args(in, rows.origin, keys.data(), positions.data(), candidates.data(), found.data(),
                shares.data(), at(rows.values, rows.dtype), at(rows.indices, rows.index_dtype), part));
  }

  void run() const {
    auto blocks = std::min({ceil_div(tune.tiles, rows.count), ceil_div(rows.n, min_block), max_blocks});
    // Many rows go in parts, for the counters' sake.
    std::int64_t together = std::max<std::int64_t>(1, max_counts / (blocks * digits));
    for (std::int64_t first = 0; first < rows.count; first += together)
      run_part(cut(std::min(together, rows.count - first), blocks), first);
  }
};

void select(const RowSort& rows) {
  if (tuning(rows.stream.device()).sub_groups > 1)
    many_of_rows(rows);
  else
    Selection{rows}.run();
}

/// Picks the elements of each long row, then sorts these.
void select_and_sort(const RowSort& rows) {
  auto picked = static_cast<std::size_t>(rows.count * rows.keep);
  ScratchBuffer values(rows.stream, picked * size_of(rows.dtype)), origin;
  RowSort picks = rows, sort = rows;
  picks.values = values.data();
  sort.in = values.data();
  sort.n = rows.keep;
  if (rows.indices) {
    origin = ScratchBuffer(rows.stream, picked * 4);
    picks.indices = origin.data();
    picks.index_dtype = DType::u32;
    sort.origin = origin.as<std::uint32_t>();
  }
  select(picks);
  sort_rows(sort);
}

}  // namespace

void topk(Stream stream, const Tensor& values, const Tensor& indices, const Tensor& in, std::int64_t k,
          int dim, TopKOptions options) {
  auto arrays = sort_arrays("topk", values, indices, in, dim, k);
  if (in.numel() == 0 || k == 0 || !(values.data || indices.data)) return;
  SortCall call(stream, arrays, options.largest, false);
  auto& rows = call.rows();
  bool in_group = rows.n <= sort_shape(stream.device(), size_of(rows.dtype)).capacity;
  if (takes_few(rows))
    few_of_rows(rows);
  else if (in_group || (k == rows.n && options.sorted))
    sort_rows(rows);
  else if (options.sorted)
    select_and_sort(rows);
  else
    select(rows);
  call.finish();
}

}  // namespace xpu::kernels

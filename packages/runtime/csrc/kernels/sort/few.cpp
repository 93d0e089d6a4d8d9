#include "kernels/sort/few.h"

#include <algorithm>
#include <bit>

#include "compile/source/embedded.h"
#include "kernels/scratch_buffer.h"
#include "kernels/tuning.h"
#include "process/immortal.h"

namespace xpu::kernels {
namespace {

// As in kernels/topk_few.sycl.
struct Rows {
  std::int64_t count, n, keep, blocks, parties;
  std::uint64_t flip;
};

// A row up to this length is read by one group only, from the caches after the first time.
constexpr std::int64_t max_group_row = 16384;
// Groups that fill a device with work-items; each finds the bound for itself, which more would do for longer.
constexpr std::int64_t max_groups = 1024, min_block = 4096;
// Parties for each element sought: twice as many leave a list of about 1.4 times the elements sought.
constexpr std::int64_t parties_each = 2;
enum Which : int { find_minima, collect, finish };

int group_lanes(const Tuning& tune) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(tune.sub_groups * tune.sub_group)));
}

Kernel kernel(const RowSort& sort, int lanes, Which which, bool collected) {
  static auto& kernels = immortal<KernelTable>();
  static const char* const names[] = {"topk_minima", "topk_collect", "topk_finish"};
  return kernels.find_or_make(sort_key(sort, which * 2 + collected), [&] {
    return build_shared_kernel(sort.stream.device(),
                               join(sort_prelude(sort), "#define LANES ", lanes, "\n#define COLLECTED ",
                                    collected, "\n", kernel_source("topk_few.sycl")),
                               names[which]);
  });
}

/// How many groups read a row together, and how many parties each has.
Rows divide(const RowSort& sort, const Tuning& tune, int lanes) {
  std::int64_t wanted = std::min<std::int64_t>(tune.tiles / 2, max_groups) / sort.count;
  std::int64_t blocks = std::clamp<std::int64_t>(wanted, 1, sort.n / min_block), parties = 1;
  while (parties < lanes && blocks * parties < sort.keep * parties_each) parties *= 2;
  return {sort.count, sort.n, sort.keep, blocks, parties, sort.flip()};
}

}  // namespace

bool takes_few(const RowSort& rows) {
  auto& tune = tuning(rows.stream.device());
  std::int64_t lanes = group_lanes(tune);
  return tune.sub_groups > 1 && rows.keep <= lanes && rows.n > 2 * lanes;
}

void few_of_rows(const RowSort& sort) {
  Stream stream = sort.stream;
  auto& tune = tuning(stream.device());
  int lanes = group_lanes(tune);
  auto groups = [&](std::int64_t count) {
    return NdRange::linear(static_cast<std::size_t>(count), static_cast<std::size_t>(lanes));
  };
  std::size_t element = size_of(sort.dtype), row_count = static_cast<std::size_t>(sort.count);
  Rows rows{sort.count, sort.n, sort.keep, 1, 1, sort.flip()};
  ScratchBuffer keys, positions, lengths;
  bool collected = sort.n > max_group_row;
  if (collected) {
    rows = divide(sort, tune, lanes);
    std::size_t parties = row_count * static_cast<std::size_t>(rows.blocks * rows.parties);
    ScratchBuffer minimum_keys(stream, parties * element), minimum_positions(stream, parties * 4);
    keys = ScratchBuffer(stream, sort.size() * element);
    positions = ScratchBuffer(stream, sort.size() * 4);
    lengths = ScratchBuffer(stream, row_count * 4);
    NdRange range = groups(rows.count * rows.blocks);
    launch(stream, kernel(sort, lanes, find_minima, true), range,
           args(sort.in, minimum_keys.data(), minimum_positions.data(), lengths.data(), rows),
           sort.size() * element);
    launch(stream, kernel(sort, lanes, collect, true), range,
           args(sort.in, minimum_keys.data(), minimum_positions.data(), keys.data(), positions.data(),
                lengths.data(), rows),
           sort.size() * element);
  }
  launch(stream, kernel(sort, lanes, finish, collected), groups(rows.count),
         args(sort.in, sort.origin, keys.data(), positions.data(), lengths.data(), sort.values, sort.indices,
              rows),
         collected ? 0 : sort.size() * element);
}

}  // namespace xpu::kernels

#include "ops/stencil.h"

#include <ATen/native/AdaptivePooling.h>
#include <ATen/native/UpSample.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <tuple>

#include "xpu/device.h"

namespace torch_xpu {
namespace {

using List = std::vector<Tap>;

// Encodes a position outside the source as a number below -1. Its own inverse.
std::int64_t encode_outside(std::int64_t at) {
  return -2 - at;
}

std::int64_t reflected(std::int64_t i, std::int64_t size) {
  if (i < 0) i = -i;
  return i < size ? i : 2 * (size - 1) - i;
}

template <class F>
void interpolate(const Stencil& r, std::int64_t i, List& entries) {
  namespace n = at::native;
  std::optional<double> given;
  if (r.scale > 0) given = r.scale;
  F scale = n::area_pixel_compute_scale<F>(r.from, r.to, r.align_corners, given);
  if (r.kind == Stencil::linear) {
    std::int64_t low, high;
    F at_low, at_high;
    n::compute_source_index_and_lambda(low, high, at_low, at_high, scale, i, r.from, r.to, r.align_corners);
    entries = {{low, at_low}, {high, at_high}};
    return;
  }
  F real = n::area_pixel_compute_source_index<F>(scale, i, r.align_corners, /*cubic=*/true);
  std::int64_t first;
  F part, weights[4];
  n::guard_index_and_lambda(real, r.from, first, part);
  n::get_cubic_upsample_coefficients<F>(weights, part);
  for (std::int64_t k = 0; k < 4; ++k)
    entries.push_back({std::clamp<std::int64_t>(first - 1 + k, 0, r.from - 1), weights[k]});
}

template <class F>
F filter(Stencil::Kind kind, F x) {
  x = std::abs(x);
  if (kind == Stencil::linear_aa) return x < 1 ? 1 - x : F(0);
  if (kind == Stencil::lanczos_aa) {
    auto sinc = [](F v) {
      v *= std::numbers::pi_v<F>;
      return v == 0 ? F(1) : std::sin(v) / v;
    };
    return x < 3 ? sinc(x) * sinc(x / 3) : F(0);
  }
  constexpr F a = -0.5;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : F(0);
}

template <class F>
void antialias(const Stencil& r, std::int64_t i, List& entries) {
  std::optional<double> given;
  if (r.scale > 0) given = r.scale;
  F scale = at::native::area_pixel_compute_scale<F>(r.from, r.to, r.align_corners, given);
  F reach = r.kind == Stencil::linear_aa ? 1 : r.kind == Stencil::cubic_aa ? 2 : 3;
  F support = scale >= 1 ? reach * scale : reach, inverse = scale >= 1 ? 1 / scale : F(1);
  F center = scale * (static_cast<F>(i) + F(0.5)), total = 0;
  auto first = std::max<std::int64_t>(static_cast<std::int64_t>(center - support + F(0.5)), 0);
  auto end = std::min<std::int64_t>(static_cast<std::int64_t>(center + support + F(0.5)), r.from);
  std::vector<F> weights;
  for (auto j = first; j < end; ++j) {
    weights.push_back(filter<F>(r.kind, (static_cast<F>(j) - center + F(0.5)) * inverse));
    total += weights.back();
  }
  for (std::size_t k = 0; k < weights.size(); ++k)
    entries.push_back({first + static_cast<std::int64_t>(k), total != 0 ? weights[k] / total : weights[k]});
}

void pool(const Stencil& r, std::int64_t i, List& entries) {
  auto begin = i * r.stride - r.pad, end = std::min(begin + r.kernel, r.from + r.pad);
  bool averages = r.kind != Stencil::window;
  for (std::int64_t k = 0; k < r.kernel; ++k) {
    auto at = begin + k * r.dilation;
    if (at >= 0 && at < r.from) entries.push_back({at, 1});
  }
  // A window entirely in the padding has one tap, outside the source: where it would begin.
  if (!averages && entries.empty()) {
    auto steps = begin < 0 ? (-begin + r.dilation - 1) / r.dilation : 0;
    entries.push_back({encode_outside(begin + steps * r.dilation), 0});
  }
  if (!averages) return;
  auto count = r.kind == Stencil::average ? end - begin : static_cast<std::int64_t>(entries.size());
  for (auto& tap : entries) tap.weight = 1.0 / (r.scale != 0 ? r.scale : static_cast<double>(count));
}

void unfold_windows(const Stencil& r, std::int64_t i, List& entries) {
  auto windows = r.from / r.kernel;
  for (std::int64_t k = 0; k < r.kernel; ++k) {
    auto begin = i + r.pad - k * r.dilation;
    if (begin >= 0 && begin % r.stride == 0 && begin / r.stride < windows)
      entries.push_back({k * windows + begin / r.stride, 1});
  }
}

void adapt(const Stencil& r, std::int64_t i, List& entries) {
  auto begin = at::native::start_index(i, r.to, r.from), end = at::native::end_index(i, r.to, r.from);
  double weight = r.kind == Stencil::adaptive_average ? 1.0 / static_cast<double>(end - begin) : 1;
  for (auto j = begin; j < end; ++j) entries.push_back({j, weight});
}

void add_taps(const Stencil& r, std::int64_t i, List& entries) {
  std::optional<double> given;
  if (r.scale > 0) given = r.scale;
  switch (r.kind) {
    case Stencil::identity:
      return entries.push_back({i, 1});
    case Stencil::reflect:
      return entries.push_back({reflected(i - r.pad, r.from), 1});
    case Stencil::replicate:
      return entries.push_back({std::clamp<std::int64_t>(i - r.pad, 0, r.from - 1), 1});
    case Stencil::nearest:
      return entries.push_back({at::native::nearest_idx(i, r.from, r.to, given), 1});
    case Stencil::nearest_exact:
      return entries.push_back({at::native::nearest_exact_idx(i, r.from, r.to, given), 1});
    case Stencil::linear:
    case Stencil::cubic:
      return r.wide ? interpolate<double>(r, i, entries) : interpolate<float>(r, i, entries);
    case Stencil::linear_aa:
    case Stencil::cubic_aa:
    case Stencil::lanczos_aa:
      return r.wide ? antialias<double>(r, i, entries) : antialias<float>(r, i, entries);
    case Stencil::window:
    case Stencil::average:
    case Stencil::average_inside:
      return pool(r, i, entries);
    case Stencil::fold:
      return unfold_windows(r, i, entries);
    case Stencil::adaptive_window:
    case Stencil::adaptive_average:
      return adapt(r, i, entries);
  }
}

StencilTable upload(const std::vector<List>& lists, bool wide, c10::Device device) {
  StencilTable table;
  std::size_t max_taps = 1, results = lists.size();
  for (auto& list : lists) max_taps = std::max(max_taps, list.size());
  table.width = static_cast<std::int64_t>(max_taps);
  auto shape = {table.width, static_cast<std::int64_t>(results)};
  auto index = at::empty(shape, at::kInt), weight = at::empty(shape, wide ? at::kDouble : at::kFloat);
  auto* indices = index.data_ptr<std::int32_t>();
  for (std::size_t i = 0; i < results; ++i) {
    table.holes = table.holes || lists[i].size() < max_taps || lists[i][0].at < 0;
    for (std::size_t k = 0; k < max_taps; ++k) {
      bool exists = k < lists[i].size();
      indices[k * results + i] = exists ? static_cast<std::int32_t>(lists[i][k].at) : -1;
      double by = exists ? lists[i][k].weight : 0;
      if (wide)
        weight.data_ptr<double>()[k * results + i] = by;
      else
        weight.data_ptr<float>()[k * results + i] = static_cast<float>(by);
    }
  }
  table.index = index.to(device);
  table.weight = weight.to(device);
  return table;
}

}  // namespace

bool Stencil::has_weights() const {
  return kind > nearest_exact && kind != window && kind != fold && kind != adaptive_window;
}

std::vector<List> compute_taps(const Stencil& stencil) {
  std::vector<List> forward(static_cast<std::size_t>(stencil.to));
  for (std::int64_t i = 0; i < stencil.to; ++i) add_taps(stencil, i, forward[static_cast<std::size_t>(i)]);
  if (!stencil.is_backward) return forward;
  std::vector<List> backward(static_cast<std::size_t>(stencil.from));
  for (std::int64_t i = 0; i < stencil.to; ++i) {
    for (auto& tap : forward[static_cast<std::size_t>(i)]) {
      if (tap.at < 0) continue;
      auto& list = backward[static_cast<std::size_t>(tap.at)];
      // At an edge, one result may use an element twice.
      if (!list.empty() && list.back().at == i && stencil.has_weights())
        list.back().weight += tap.weight;
      else
        list.push_back({i, tap.weight});
    }
  }
  return backward;
}

namespace {

template <class Make>
StencilTable cached_table(c10::Device device, const Stencil& stencil, const Stencil& inside, Make make) {
  using Key = std::tuple<int, Stencil, Stencil>;
  static auto& tables = *new std::map<Key, StencilTable>;
  static auto& mutex = *new std::mutex;
  constexpr std::size_t max_tables = 4096;
  Key key{device.index(), stencil, inside};
  std::lock_guard lock(mutex);
  if (auto found = tables.find(key); found != tables.end()) return found->second;
  // Every stream may use a table: its upload has completed, and all devices must drain before it is freed.
  if (tables.size() >= max_tables) {
    for (int i = 0; i < xpu::device_count(); ++i) xpu::synchronize(i);
    tables.clear();
  }
  return tables[key] = upload(make(), stencil.wide, device);
}

}  // namespace

StencilTable stencil_table(const Stencil& stencil, c10::Device device) {
  return cached_table(device, stencil, {}, [&] { return compute_taps(stencil); });
}

StencilTable stencil_table(const Stencil& rows, const Stencil& columns, c10::Device device) {
  return cached_table(device, rows, columns, [&] {
    std::vector<List> plane;
    auto inside = compute_taps(columns);
    for (auto& row : compute_taps(rows)) {
      for (auto& column : inside) {
        auto& entries = plane.emplace_back();
        if (!row.empty() && !column.empty() && (row[0].at < 0 || column[0].at < 0)) {
          auto place = [](const Tap& tap) { return tap.at < 0 ? encode_outside(tap.at) : tap.at; };
          entries.push_back({encode_outside(place(row[0]) * columns.sources() + place(column[0])), 0});
          continue;
        }
        for (auto& r : row)
          for (auto& c : column) entries.push_back({r.at * columns.sources() + c.at, r.weight * c.weight});
      }
    }
    return plane;
  });
}

}  // namespace torch_xpu

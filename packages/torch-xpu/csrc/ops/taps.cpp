#include "ops/taps.h"

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

// What stands in a table for an element that would be at `at` but is not: below -1. The same gives `at` back.
std::int64_t nowhere(std::int64_t at) {
  return -2 - at;
}

std::int64_t reflected(std::int64_t i, std::int64_t size) {
  if (i < 0) i = -i;
  return i < size ? i : 2 * (size - 1) - i;
}

template <class F>
void interpolate(const Rule& r, std::int64_t i, List& taps) {
  namespace n = at::native;
  std::optional<double> given;
  if (r.scale > 0) given = r.scale;
  F scale = n::area_pixel_compute_scale<F>(r.from, r.to, r.align_corners, given);
  if (r.kind == Rule::linear) {
    std::int64_t low, high;
    F at_low, at_high;
    n::compute_source_index_and_lambda(low, high, at_low, at_high, scale, i, r.from, r.to, r.align_corners);
    taps = {{low, at_low}, {high, at_high}};
    return;
  }
  F real = n::area_pixel_compute_source_index<F>(scale, i, r.align_corners, /*cubic=*/true);
  std::int64_t first;
  F part, weights[4];
  n::guard_index_and_lambda(real, r.from, first, part);
  n::get_cubic_upsample_coefficients<F>(weights, part);
  for (std::int64_t k = 0; k < 4; ++k)
    taps.push_back({std::clamp<std::int64_t>(first - 1 + k, 0, r.from - 1), weights[k]});
}

template <class F>
F filter(Rule::Kind kind, F x) {
  x = std::abs(x);
  if (kind == Rule::linear_aa) return x < 1 ? 1 - x : F(0);
  if (kind == Rule::lanczos_aa) {
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
void antialias(const Rule& r, std::int64_t i, List& taps) {
  std::optional<double> given;
  if (r.scale > 0) given = r.scale;
  F scale = at::native::area_pixel_compute_scale<F>(r.from, r.to, r.align_corners, given);
  F reach = r.kind == Rule::linear_aa ? 1 : r.kind == Rule::cubic_aa ? 2 : 3;
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
    taps.push_back({first + static_cast<std::int64_t>(k), total != 0 ? weights[k] / total : weights[k]});
}

void pool(const Rule& r, std::int64_t i, List& taps) {
  auto begin = i * r.stride - r.pad, end = std::min(begin + r.kernel, r.from + r.pad);
  bool averages = r.kind != Rule::window;
  for (std::int64_t k = 0; k < r.kernel; ++k) {
    auto at = begin + k * r.dilation;
    if (at >= 0 && at < r.from) taps.push_back({at, 1});
  }
  // A window wholly in the padding: where it would begin.
  if (!averages && taps.empty()) {
    auto steps = begin < 0 ? (-begin + r.dilation - 1) / r.dilation : 0;
    taps.push_back({nowhere(begin + steps * r.dilation), 0});
  }
  if (!averages) return;
  auto count = r.kind == Rule::average ? end - begin : static_cast<std::int64_t>(taps.size());
  for (auto& tap : taps) tap.weight = 1.0 / (r.scale != 0 ? r.scale : static_cast<double>(count));
}

void unfold_windows(const Rule& r, std::int64_t i, List& taps) {
  auto windows = r.from / r.kernel;
  for (std::int64_t k = 0; k < r.kernel; ++k) {
    auto begin = i + r.pad - k * r.dilation;
    if (begin >= 0 && begin % r.stride == 0 && begin / r.stride < windows)
      taps.push_back({k * windows + begin / r.stride, 1});
  }
}

void adapt(const Rule& r, std::int64_t i, List& taps) {
  auto begin = at::native::start_index(i, r.to, r.from), end = at::native::end_index(i, r.to, r.from);
  double weight = r.kind == Rule::adaptive_average ? 1.0 / static_cast<double>(end - begin) : 1;
  for (auto j = begin; j < end; ++j) taps.push_back({j, weight});
}

void work_out(const Rule& r, std::int64_t i, List& taps) {
  std::optional<double> given;
  if (r.scale > 0) given = r.scale;
  switch (r.kind) {
    case Rule::identity:
      return taps.push_back({i, 1});
    case Rule::reflect:
      return taps.push_back({reflected(i - r.pad, r.from), 1});
    case Rule::replicate:
      return taps.push_back({std::clamp<std::int64_t>(i - r.pad, 0, r.from - 1), 1});
    case Rule::nearest:
      return taps.push_back({at::native::nearest_idx(i, r.from, r.to, given), 1});
    case Rule::nearest_exact:
      return taps.push_back({at::native::nearest_exact_idx(i, r.from, r.to, given), 1});
    case Rule::linear:
    case Rule::cubic:
      return r.wide ? interpolate<double>(r, i, taps) : interpolate<float>(r, i, taps);
    case Rule::linear_aa:
    case Rule::cubic_aa:
    case Rule::lanczos_aa:
      return r.wide ? antialias<double>(r, i, taps) : antialias<float>(r, i, taps);
    case Rule::window:
    case Rule::average:
    case Rule::average_inside:
      return pool(r, i, taps);
    case Rule::fold:
      return unfold_windows(r, i, taps);
    case Rule::adaptive_window:
    case Rule::adaptive_average:
      return adapt(r, i, taps);
  }
}

Taps upload(const std::vector<List>& lists, bool wide, c10::Device device) {
  Taps taps;
  std::size_t most = 1, results = lists.size();
  for (auto& list : lists) most = std::max(most, list.size());
  taps.taps = static_cast<std::int64_t>(most);
  auto shape = {taps.taps, static_cast<std::int64_t>(results)};
  auto index = at::empty(shape, at::kInt), weight = at::empty(shape, wide ? at::kDouble : at::kFloat);
  auto* places = index.data_ptr<std::int32_t>();
  for (std::size_t i = 0; i < results; ++i) {
    taps.holes = taps.holes || lists[i].size() < most || lists[i][0].at < 0;
    for (std::size_t k = 0; k < most; ++k) {
      bool there = k < lists[i].size();
      places[k * results + i] = there ? static_cast<std::int32_t>(lists[i][k].at) : -1;
      double by = there ? lists[i][k].weight : 0;
      if (wide)
        weight.data_ptr<double>()[k * results + i] = by;
      else
        weight.data_ptr<float>()[k * results + i] = static_cast<float>(by);
    }
  }
  taps.index = index.to(device);
  taps.weight = weight.to(device);
  return taps;
}

}  // namespace

bool Rule::weighted() const {
  return kind > nearest_exact && kind != window && kind != fold && kind != adaptive_window;
}

std::vector<List> worked_out(const Rule& rule) {
  std::vector<List> forward(static_cast<std::size_t>(rule.to));
  for (std::int64_t i = 0; i < rule.to; ++i) work_out(rule, i, forward[static_cast<std::size_t>(i)]);
  if (!rule.turned) return forward;
  std::vector<List> backward(static_cast<std::size_t>(rule.from));
  for (std::int64_t i = 0; i < rule.to; ++i) {
    for (auto& tap : forward[static_cast<std::size_t>(i)]) {
      if (tap.at < 0) continue;
      auto& list = backward[static_cast<std::size_t>(tap.at)];
      // An element that one result takes twice, at an edge.
      if (!list.empty() && list.back().at == i && rule.weighted())
        list.back().weight += tap.weight;
      else
        list.push_back({i, tap.weight});
    }
  }
  return backward;
}

namespace {

template <class Make>
Taps kept(c10::Device device, const Rule& rule, const Rule& inside, Make make) {
  using Key = std::tuple<int, Rule, Rule>;
  static auto& known = *new std::map<Key, Taps>;
  static auto& mutex = *new std::mutex;
  constexpr std::size_t most = 4096;
  Key key{device.index(), rule, inside};
  std::lock_guard lock(mutex);
  if (auto found = known.find(key); found != known.end()) return found->second;
  // The tables serve every stream: the upload has waited, and so must what frees them.
  if (known.size() >= most) {
    for (int i = 0; i < xpu::device_count(); ++i) xpu::synchronize(i);
    known.clear();
  }
  return known[key] = upload(make(), rule.wide, device);
}

}  // namespace

Taps taps_of(const Rule& rule, c10::Device device) {
  return kept(device, rule, {}, [&] { return worked_out(rule); });
}

Taps taps_of(const Rule& rows, const Rule& columns, c10::Device device) {
  return kept(device, rows, columns, [&] {
    std::vector<List> plane;
    auto inside = worked_out(columns);
    for (auto& row : worked_out(rows)) {
      for (auto& column : inside) {
        auto& taps = plane.emplace_back();
        if (!row.empty() && !column.empty() && (row[0].at < 0 || column[0].at < 0)) {
          auto place = [](const Tap& tap) { return tap.at < 0 ? nowhere(tap.at) : tap.at; };
          taps.push_back({nowhere(place(row[0]) * columns.sources() + place(column[0])), 0});
          continue;
        }
        for (auto& r : row)
          for (auto& c : column) taps.push_back({r.at * columns.sources() + c.at, r.weight * c.weight});
      }
    }
    return plane;
  });
}

}  // namespace torch_xpu

// The list of the reductions everybody needs.
#include <map>

#include "process/immortal.h"
#include "xpu/error.h"
#include "xpu/kernels/reduce.h"

namespace xpu::kernels {
namespace {

// NaN wins, and of equal values the one that comes first. The identity's place is behind every element's.
std::string pick(const char* better) {
  return std::string("bool takes = r0 != r0 ? s0 == s0 || r1 < s1 : r0 ") + better +
         " s0 || (r0 == s0 && r1 < s1); s0 = takes ? r0 : s0; s1 = takes ? r1 : s1;";
}
constexpr const char* last_place = "(Position)(~(u64)0 >> (sizeof(Position) == 4 ? 33 : 1))";

// Welford's step and Chan's way of joining two parts; the parts' counts are s2 and r2.
constexpr const char* welford_step = "s2 += (T)1; T d = a0 - s0; s0 += d / s2; s1 += d * (a0 - s0);";
constexpr const char* welford_join =
    "T n = s2 + r2; T share = n == (T)0 ? (T)0 : r2 / n; T d = r0 - s0;"
    "s1 += r1 + (share == (T)0 ? (T)0 : d * d * s2 * share); s0 = share == (T)0 ? s0 : s0 + d * share; s2 = "
    "n;";
// p0 is what is taken off the count.
constexpr const char* variance = "s1 / xpu::max_of((T)count - p0, (T)0)";

ReductionExpression welford(const char* name, std::vector<std::string> outputs) {
  std::string mean = "(count == 0 ? (T)nan() : s0)";
  for (auto& out : outputs)
    if (out == "mean") out = mean;
  return {.name = name,
          .accumulators = {{"T", "0"}, {"T", "0"}, {"T", "0"}},
          .combine = welford_join,
          .outputs = std::move(outputs),
          .update = welford_step,
          .scalars = 1};
}

ReductionExpression simple(const char* name, const char* identity, const char* map, const char* combine,
                           const char* output = "s0", int scalars = 0) {
  return {.name = name,
          .accumulators = {{"T", identity}},
          .map = {map},
          .combine = combine,
          .outputs = {output},
          .scalars = scalars,
          .headers = {"math", "integer", "exp", "limits"}};
}

ReductionExpression with_place(const char* name, const char* identity, const char* better,
                               std::vector<std::string> outputs) {
  return {.name = name,
          .accumulators = {{"T", identity}, {"Position", last_place}},
          .map = {"a0", "index"},
          .combine = pick(better),
          .outputs = std::move(outputs),
          .headers = {"math", "limits"},
          .uses_index = true};
}

ReductionExpression truth(const char* name, const char* identity, const char* combine) {
  return {.name = name,
          .accumulators = {{"u32", identity}},
          .map = {"xpu::to<bool>(a0) ? 1u : 0u"},
          .combine = combine,
          .outputs = {"s0 != 0"}};
}

std::vector<ReductionExpression> table() {
  return {
      simple("sum", "0", "a0", "s0 += r0;"),
      simple("nansum", "0", "a0 == a0 ? a0 : (T)0", "s0 += r0;"),
      simple("prod", "1", "a0", "s0 *= r0;"),
      simple("mean", "0", "a0", "s0 += r0;", "s0 / (T)count"),
      simple("max", "lowest<T>()", "a0", "s0 = xpu::maximum(s0, r0);"),
      simple("min", "highest<T>()", "a0", "s0 = xpu::minimum(s0, r0);"),
      with_place("argmax", "lowest<T>()", ">", {"s1"}),
      with_place("argmin", "highest<T>()", "<", {"s1"}),
      with_place("max_with_index", "lowest<T>()", ">", {"s0", "s1"}),
      with_place("min_with_index", "highest<T>()", "<", {"s0", "s1"}),
      truth("any", "0", "s0 |= r0;"),
      truth("all", "1", "s0 &= r0;"),
      simple("count_nonzero", "0", "(T)(a0 != (T)0)", "s0 += r0;"),
      simple("norm0", "0", "a0 != (T)0 ? (T)1 : (T)0", "s0 += r0;"),
      simple("norm1", "0", "xpu::abs(a0)", "s0 += r0;"),
      simple("norm2", "0", "a0 * a0", "s0 += r0;", "xpu::sqrt(s0)"),
      simple("norm", "0", "xpu::pow(xpu::abs(a0), p0)", "s0 += r0;", "xpu::pow(s0, (T)1 / p0)", 1),
      simple("norm_inf", "0", "xpu::abs(a0)", "s0 = xpu::maximum(s0, r0);"),
      simple("norm_neg_inf", "highest<T>()", "xpu::abs(a0)", "s0 = xpu::minimum(s0, r0);"),
      simple("sum_squares", "0", "a0 * a0", "s0 += r0;"),
      welford("var", {variance}),
      welford("std", {join("xpu::sqrt(", variance, ")")}),
      welford("var_mean", {variance, "mean"}),
      welford("std_mean", {join("xpu::sqrt(", variance, ")"), "mean"}),
      // The running maximum, and the sum of exponentials above it.
      {.name = "logsumexp",
       .accumulators = {{"T", "-infinity()"}, {"T", "0"}},
       .combine = "T m = xpu::maximum(s0, r0); T base = xpu::isinf(m) ? (T)0 : m;"
                  "s1 = s1 * xpu::exp(s0 - base) + r1 * xpu::exp(r0 - base); s0 = m;",
       .outputs = {"s0 == s0 ? (xpu::isinf(s0) ? s0 : s0 + xpu::log(s1)) : s0"},
       .update = "T m = xpu::maximum(s0, a0); T e = a0 == s0 ? (T)1 : xpu::exp(-xpu::abs(a0 - s0));"
                 "s1 = a0 > s0 ? s1 * e + (T)1 : s1 + e; s0 = m;",
       .headers = {"math", "exp"}},
  };
}

using Registry = std::map<std::string, Reduction, std::less<>>;
const Registry& registry() {
  static const auto& all = []() -> Registry& {
    auto& map = immortal<Registry>();
    for (auto& line : table()) map.try_emplace(line.name, line);
    return map;
  }();
  return all;
}

}  // namespace

std::vector<std::string> reduction_names() {
  std::vector<std::string> names;
  for (auto& [name, reduction] : registry()) names.push_back(name);
  return names;
}

const Reduction& reduction(std::string_view name) {
  auto found = registry().find(name);
  if (found != registry().end()) return found->second;
  std::string all;
  for (auto& known : reduction_names()) all += join(all.empty() ? "" : ", ", known);
  fail<UsageError>("reduction: got \"", name, "\", expected one of ", all);
}

}  // namespace xpu::kernels

#include "kernels/index/combine.h"

#include <algorithm>

#include "compile/source/embedded.h"
#include "kernels/call.h"
#include "kernels/contiguous_access.h"
#include "kernels/dtype_text.h"
#include "kernels/require.h"
#include "kernels/tuning.h"

namespace xpu::kernels {
namespace {

Combiner* built_in(const char* name, const char* expression, Atomic atomic) {
  auto* made = new Combiner({name, expression, {"math", "integer", "limits"}});
  made->state().atomic = atomic;
  return made;
}

bool has_atomics(Stream stream, DType dtype, Atomic atomic) {
  if (size_of(dtype) == 16) return atomic == Atomic::add && device_info(stream.device()).atomic64;
  return size_of(dtype) != 8 || device_info(stream.device()).atomic64;
}

void check(Stream stream, const IndexedAccess& a, const Combiner::State& state) {
  if (state.replaces) return;
  DType dtype = a.target.dtype;
  bool ordered = state.atomic == Atomic::minimum || state.atomic == Atomic::maximum;
  expect<UsageError>(!is_complex(dtype) || !ordered, a.name, ": elements of ", name_of(dtype),
                     " have no order; the combiner is ", state.expression.name);
  expect<Unsupported>((dtype != DType::f64 && dtype != DType::c128) || device_info(stream.device()).fp64,
                      a.name, ": ", device_info(stream.device()).name, " has no f64; convert to f32 first");
}

// An item computes a line alone, so it needs no atomics.
constexpr const char* lines_text = R"(
XPU_FN void visit(const Pointers& x, Index at, Index target) {
#if XPU_ROWS
  auto combine_column = [&](i32 column) __attribute__((always_inline)) {
    global<V> to = x.target + target + column;
    *to = stored(combined(value_of(*to), value_of(x.elements[at + column])));
  };
  i32 column = 0;
  for (; column + XPU_SUB_GROUP <= x.columns; column += XPU_SUB_GROUP) combine_column(column + lane());
  if (column + lane() < x.columns) combine_column(column + lane());
#else
  V next = stored(combined(value_of(x.target[target]), value_of(x.elements[at])));
#if XPU_LANES == 1  // all lanes store the same value, after all have read the old one
  sub_group_barrier();
  x.target[target] = next;
  sub_group_barrier();
#else
  x.target[target] = next;
#endif
#endif
}
XPU_FN void visit_invalid(const Pointers&, Index) {}
)";

enum class CombineMethod { lines, groups, atomics };

// A line shorter than this is combined in less time than sorting takes to start.
constexpr std::int64_t short_line = 256;
// As many lines as this keep a device busy enough.
constexpr std::int64_t min_lines_per_device = 1024;
// Grouping sorts the updates first, which pays when each covers many elements.
constexpr std::int64_t window_worth_grouping = 16, elements_worth_grouping = 1 << 15;

// A core of a CPU combines values along a line several times as fast as by atomics, which wait for each
// other, or by sorting. A GPU needs work for all its lanes.
bool lines_fill_device(const Tuning& tune, std::int64_t lines, int rows_divisor) {
  if (tune.sub_groups > 1) return lines >= std::int64_t{tune.tiles} * tune.sub_group / rows_divisor;
  std::int64_t vectors = (lines + tune.sub_group - 1) / tune.sub_group;
  return vectors * 64 >= tune.tiles;
}

// True if each core of a CPU has whole lines to combine, so that no item computes its position by division.
bool in_long_lines(Stream stream, const IndexedAccess& a) {
  auto& tune = tuning(stream.device());
  std::int64_t lines = line_count(a);
  return tune.sub_groups == 1 && window_size(a) == 1 && lines >= tune.tiles &&
         a.elements.numel() >= lines * tune.sub_group;
}

CombineMethod choose_method(Stream stream, const IndexedAccess& a, const Combiner::State& state,
                            bool deterministic) {
  std::int64_t lines = line_count(a), length = a.elements.numel() / lines;
  // A vector computes several rows at a time, so fewer lines are enough.
  int rows_divisor = window_size(a) == lines ? 4 : 1;
  // The method decides the order of the sums, so a deterministic choice must not depend on the device.
  if (deterministic)
    return lines >= min_lines_per_device / rows_divisor || length <= short_line ? CombineMethod::lines
                                                                                : CombineMethod::groups;
  auto& tune = tuning(stream.device());
  if (lines_fill_device(tune, lines, rows_divisor)) return CombineMethod::lines;
  if (!has_atomics(stream, a.target.dtype, state.atomic))
    return length <= short_line ? CombineMethod::lines : CombineMethod::groups;
  // A GPU has native atomic addition of floats and 32-bit integers.
  bool native =
      device_info(stream.device()).is_gpu && state.atomic == Atomic::add && size_of(a.target.dtype) == 4;
  bool long_rows =
      !native && window_size(a) >= window_worth_grouping && a.elements.numel() >= elements_worth_grouping;
  return long_rows ? CombineMethod::groups : CombineMethod::atomics;
}

const char* atomic_name(Atomic atomic) {
  static constexpr const char* names[] = {"ATOMIC_NONE", "ATOMIC_ADD", "ATOMIC_MINIMUM", "ATOMIC_MAXIMUM"};
  return names[static_cast<int>(atomic)];
}

}  // namespace

Combiner::Combiner(CombineExpression expression) : state_(std::make_unique<State>()) {
  check_name(expression.name, "combiner");
  state_->expression = std::move(expression);
}
Combiner::~Combiner() = default;

const Combiner& combiner(Combine combine) {
  static auto* const all = [] {
    auto* replace = built_in("replace", "b", Atomic::none);
    replace->state().replaces = true;
    return new Combiner* [5] {
      replace, built_in("add", "T(a + b)", Atomic::add), built_in("multiply", "T(a * b)", Atomic::none),
          built_in("minimum", "xpu::minimum(a, b)", Atomic::minimum),
          built_in("maximum", "xpu::maximum(a, b)", Atomic::maximum)
    };
  }();
  return *all[static_cast<int>(combine)];
}

Combine combine_of(std::string_view name) {
  constexpr std::string_view names[] = {"replace", "add", "multiply", "minimum", "maximum"};
  auto found = std::find(std::begin(names), std::end(names), name);
  expect<UsageError>(found != std::end(names), "combine: got \"", name,
                     "\", expected replace, add, multiply, minimum or maximum");
  return static_cast<Combine>(found - std::begin(names));
}

std::string arithmetic_text(const Combiner::State& state, DType dtype) {
  if (state.replaces)
    return "using T = V;\nXPU_FN T value_of(V x) { return x; }\nXPU_FN V stored(T x) { return x; }\n"
           "XPU_FN T combined(T, T b) { return b; }\n";
  std::string text;
  for (auto& header : state.expression.headers) text += join("#include <xpu/", header, ".h>\n");
  const char* cast = is_complex(dtype) ? "xpu::cast" : "xpu::to";
  const char* loaded = dtype == DType::boolean ? "x != 0" : "x";
  return text + join("using T = ", math_type(dtype), ";\nXPU_FN T value_of(V x) { return ", cast, "<T>(",
                     loaded, "); }\nXPU_FN V stored(T x) { return (V)", cast, "<", value_type(dtype),
                     ">(x); }\nXPU_FN T combined(T a, T b) { return ", state.expression.combine, "; }\n");
}

void combine(Stream stream, const IndexedAccess& access, const Combiner& combiner, bool deterministic) {
  auto& state = combiner.state();
  check(stream, access, state);
  if (is_empty_access(access)) return;
  if (needs_contiguous(access)) {
    ContiguousAccess contiguous(stream, access, ContiguousAccess::Writes::target);
    combine(stream, contiguous.access(), combiner, deterministic);
    return contiguous.finish();
  }
  if (!deterministic && state.replaces && !in_long_lines(stream, access))
    return scatter_elements(stream, access);
  switch (choose_method(stream, access, state, deterministic)) {
    case CombineMethod::lines:
      return enqueue_access(stream,
                            {.name = "combine_lines",
                             .access = access,
                             .is_arithmetic = !state.replaces,
                             .line_per_item = true},
                            state.lines,
                            [&] { return arithmetic_text(state, access.target.dtype) + lines_text; });
    case CombineMethod::groups:
      return combine_grouped(stream, access, state);
    case CombineMethod::atomics:
      return enqueue_access(stream, {.name = "combine", .access = access, .is_arithmetic = true},
                            state.atomics, [&] {
                              return join(arithmetic_text(state, access.target.dtype), "#define COMBINE ",
                                          atomic_name(state.atomic), "\n", kernel_source("combine.sycl"));
                            });
  }
}

}  // namespace xpu::kernels

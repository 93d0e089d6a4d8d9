#include "kernels/combine.h"

#include "compile/embedded.h"
#include "kernels/call.h"
#include "kernels/dtype_text.h"
#include "kernels/require.h"

namespace xpu::kernels {
namespace {

Combiner* built_in(const char* name, const char* expression, Atomic atomic) {
  auto* made = new Combiner({name, expression, {"math", "integer", "limits"}});
  made->state().atomic = atomic;
  return made;
}

// Grouping sorts first, and then needs neither atomics nor luck with their order.
constexpr std::int64_t window_worth_grouping = 16, elements_worth_grouping = 1 << 15;

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
  expect<Unsupported>((dtype != DType::f64 && dtype != DType::c128) || device_info(stream.device()).fp64, a.name,
                      ": ", device_info(stream.device()).name, " has no f64; convert to f32 first");
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
    return new Combiner*[5]{replace, built_in("add", "T(a + b)", Atomic::add),
                            built_in("multiply", "T(a * b)", Atomic::none),
                            built_in("minimum", "xpu::minimum(a, b)", Atomic::minimum),
                            built_in("maximum", "xpu::maximum(a, b)", Atomic::maximum)};
  }();
  return *all[static_cast<int>(combine)];
}

std::string arithmetic_text(const Combiner::State& state, DType dtype) {
  if (state.replaces)
    return "using T = V;\nXPU_FN T value_of(V x) { return x; }\nXPU_FN V stored(T x) { return x; }\n"
           "XPU_FN T combined(T, T b) { return b; }\n";
  std::string text;
  for (auto& header : state.expression.headers) text += join("#include <xpu/", header, ".h>\n");
  const char* cast = is_complex(dtype) ? "xpu::cast" : "xpu::to";
  const char* loaded = dtype == DType::boolean ? "x != 0" : "x";
  return text + join("using T = ", math_type(dtype), ";\nXPU_FN T value_of(V x) { return ", cast, "<T>(", loaded,
                     "); }\nXPU_FN V stored(T x) { return (V)", cast, "<", value_type(dtype),
                     ">(x); }\nXPU_FN T combined(T a, T b) { return ", state.expression.combine, "; }\n");
}

void combine(Stream stream, const IndexedAccess& access, const Combiner& combiner, bool deterministic) {
  auto& state = combiner.state();
  check(stream, access, state);
  if (nothing_to_walk(access)) return;
  DType dtype = access.target.dtype;
  if (!deterministic && state.replaces) return put(stream, access);
  bool long_rows = !state.replaces && window_size(access) >= window_worth_grouping &&
                   access.moved.numel() >= elements_worth_grouping;
  if (deterministic || long_rows || !has_atomics(stream, dtype, state.atomic))
    return combine_grouped(stream, access, state);
  queue_walk(stream, {"combine", access, true}, state.atomics, [&] {
    return join(arithmetic_text(state, dtype), "#define COMBINE ", atomic_name(state.atomic), "\n",
                kernel_source("combine.sycl"));
  });
}

}  // namespace xpu::kernels

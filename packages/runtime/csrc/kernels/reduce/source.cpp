#include "compile/source/embedded.h"
#include "kernels/reduce/plan.h"
#include "kernels/source_writer.h"

namespace xpu::kernels {
namespace {

/// State, which holds the accumulators, and what is done with it.
void write_state(SourceWriter& writer, const ReductionExpression& e) {
  auto each = [&](auto text) {
    for (std::size_t i = 0; i < e.accumulators.size(); ++i) text(i, e.accumulators[i]);
  };
  writer.line("struct State {");
  each([&](std::size_t i, auto& a) { writer.line("  ", a.type, " s", i, ";"); });
  writer.line("};");
  writer.line("XPU_FN State identity() {\n  State s;");
  each([&](std::size_t i, auto& a) { writer.line("  s.s", i, " = (", a.type, ")(", a.identity, ");"); });
  writer.line("  return s;\n}");
  writer.line("XPU_FN State exchange(const State& s, int from) {\n  State other;");
  each([&](std::size_t i, auto&) { writer.line("  other.s", i, " = shuffle(s.s", i, ", from);"); });
  writer.line("  return other;\n}");
  writer.line("XPU_FN void combine(State& left, const State& right) {");
  each([&](std::size_t i, auto& a) {
    writer.line("  ", a.type, "& s", i, " = left.s", i, ";");
    writer.line("  ", a.type, " r", i, " = right.s", i, ";");
  });
  writer.line("  ", e.combine, "\n}");
}

/// Returns true for a sum or product of numbers that round. Several sums at once would need too many
/// registers.
bool rounds(const ReductionExpression& e, DType compute) {
  bool is_sum = e.update.empty() && e.combine.find_first_of("+*") != std::string::npos;
  return is_sum && e.accumulators.size() == 1 && (is_float(compute) || is_complex(compute));
}

void write_update(SourceWriter& writer, const ReductionExpression& e) {
  writer.line("XPU_FN void update(State& state, Inputs in, const Parameters& parameters, Position index) {");
  writer.input_locals(e.unconverted_inputs);
  writer.scalar_locals();
  if (e.update.empty()) {
    writer.line("  State mapped;");
    for (std::size_t i = 0; i < e.map.size(); ++i)
      writer.line("  mapped.s", i, " = (", e.accumulators[i].type, ")(", e.map[i], ");");
    writer.line("  combine(state, mapped);");
  } else {
    for (std::size_t i = 0; i < e.accumulators.size(); ++i)
      writer.line("  ", e.accumulators[i].type, "& s", i, " = state.s", i, ";");
    writer.line("  ", e.update);
  }
  writer.line("}");
}

void write_finish(SourceWriter& writer, const ReductionExpression& e) {
  writer.line("XPU_FN Outputs finish(const State& state, const Parameters& parameters, i64 count) {");
  for (std::size_t i = 0; i < e.accumulators.size(); ++i)
    writer.line("  [[maybe_unused]] ", e.accumulators[i].type, " s", i, " = state.s", i, ";");
  writer.scalar_locals();
  writer.output_values(e.outputs);
  writer.line("  return out;\n}");
}

}  // namespace

std::string reduce_kernel_name(const ReductionExpression& expression) {
  return "reduce_" + expression.name;
}
std::string reduce_finish_name(const ReductionExpression& expression) {
  return "reduce_finish_" + expression.name;
}

// Writes what kernels/reduce.sycl expects before it.
std::string reduce_source(const Tuning& tuning, const ReductionExpression& e, const ReduceVariant& v) {
  std::span<const DType> dtypes(v.dtype, v.operands);
  SourceWriter writer(dtypes.first(v.outputs), dtypes.subspan(v.outputs), v.compute, e.scalars);
  writer.headers(e.headers);
  writer.line("#define XPU_NAME ", reduce_kernel_name(e));
  writer.line("#define XPU_FINISH ", reduce_finish_name(e));
  writer.line("#define XPU_OPERANDS ", int{v.operands});
  writer.line("#define XPU_OUTPUTS ", int{v.outputs});
  writer.line("#define XPU_PATH ", v.outer ? 1 : 0);
  writer.line("#define XPU_SPLIT ", v.split ? 1 : 0);
  writer.line("#define XPU_UNROLL ", int{v.unroll});
  writer.line("#define XPU_RESULT_DIMS ", int{v.result_dims});
  writer.line("#define XPU_REDUCED_DIMS ", int{v.reduced_dims});
  writer.line("#define XPU_SUB_GROUPS ", tuning.sub_groups);
  writer.line("#define XPU_IN_BLOCKS ", rounds(e, v.compute) ? 1 : 0);
  if (rounds(e, v.compute)) writer.line("#include <xpu/blocked_sums.h>");
  std::string kinds;
  for (int k = 0; k < v.operands; ++k) kinds += join(k ? ", " : "", v.kinds >> 2 * k & 3);
  writer.line("#define XPU_KINDS ", kinds);
  writer.types(v.wide_index);
  writer.line("using Position = Index;");
  writer.memory(1);
  writer.line(e.helpers);
  write_state(writer, e);
  write_update(writer, e);
  write_finish(writer, e);
  return writer.take() + kernel_source("reduce.sycl");
}

}  // namespace xpu::kernels

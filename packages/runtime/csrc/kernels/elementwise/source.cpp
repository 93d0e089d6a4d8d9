#include <algorithm>

#include "compile/source/embedded.h"
#include "kernels/elementwise/plan.h"
#include "kernels/source_writer.h"

namespace xpu::kernels {

std::string elementwise_kernel_name(const Expression& expression) {
  return "elementwise_" + expression.name;
}

// Writes what kernels/elementwise.sycl expects before it.
std::string elementwise_source(const Tuning& tuning, const Expression& e, const Variant& v) {
  std::span<const DType> dtypes(v.dtype, v.operands), outputs = dtypes.first(v.outputs);
  SourceWriter writer(outputs, dtypes.subspan(v.outputs), v.compute, e.scalars);
  auto headers = e.headers;
  if (v.vector > 1) headers.push_back("wide");
  if (v.streaming) headers.push_back("streaming_store");
  bool narrow =
      std::all_of(outputs.begin(), outputs.end(), [](DType d) { return is_float(d) && size_of(d) <= 2; });
  if (narrow) writer.line("#define XPU_SHORT_RESULTS 1");
  writer.headers(headers);
  writer.line("#define XPU_NAME ", elementwise_kernel_name(e));
  writer.line("#define XPU_OPERANDS ", int{v.operands});
  writer.line("#define XPU_PATH ", static_cast<int>(v.path));
  writer.line("#define XPU_DIMS ", int{v.dims});
  writer.line("#define XPU_VECTOR ", int{v.vector});
  writer.line("#define XPU_SUB_GROUPS ", tuning.sub_groups);
  writer.line("#define XPU_GATHERS ", v.gathers() ? 1 : 0);
  std::string kinds;
  for (int k = 0; k < v.operands; ++k) kinds += join(k ? ", " : "", v.kind(k));
  writer.line("#define XPU_KINDS ", kinds);
  writer.types(v.wide_index);
  writer.memory(v.vector);
  writer.line("#define XPU_STREAMING ", v.streaming ? 1 : 0);
  if (v.streaming) writer.blocks(v.vector);
  writer.line(e.helpers);
  writer.line("XPU_FN Outputs compute(Inputs in, const Parameters& parameters, i64 index) {");
  writer.input_locals(e.unconverted_inputs);
  writer.scalar_locals();
  writer.line("  ", e.body);
  writer.output_values(e.outputs);
  writer.line("  return out;\n}");
  return writer.take() + kernel_source("elementwise.sycl");
}

}  // namespace xpu::kernels

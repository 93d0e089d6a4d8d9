#include <algorithm>

#include "compile/embedded.h"
#include "kernels/dtype_text.h"
#include "kernels/elementwise_plan.h"
#include "xpu/error.h"

namespace xpu::kernels {
namespace {

// Writes what kernels/elementwise.sycl expects before it.
struct Writer {
  const Tuning& tuning;
  const Expression& expression;
  const Variant& v;
  std::string out = {};
  std::string cast = "xpu::to";

  template <class... Parts>
  void line(const Parts&... parts) {
    out += join(parts..., "\n");
  }

  int inputs() const { return v.operands - v.outputs; }
  DType input(int i) const { return v.dtype[v.outputs + i]; }

  /// o0, o1, ... and a0, a1, ..., as parameters or as names.
  std::string pointers(bool declare) const {
    std::string list;
    for (int k = 0; k < v.operands; ++k) {
      bool is_output = k < v.outputs;
      std::string name = is_output ? join("o", k) : join("a", k - v.outputs);
      std::string type = join("xpu::global<", is_output ? "" : "const ", storage_type(v.dtype[k]), "> ");
      list += join(k ? ", " : "", declare ? type : "", name);
    }
    return list;
  }

  void headers() {
    bool complex = is_complex(v.compute);
    for (int k = 0; k < v.operands; ++k) complex |= is_complex(v.dtype[k]);
    if (complex) cast = "xpu::cast";
    line("#include <xpu/group.h>");
    line("#include <xpu/", complex ? "complex" : "convert", ".h>");
    if (v.vector > 1) line("#include <xpu/wide.h>");
    for (auto& header : expression.headers) line("#include <xpu/", header, ".h>");
    line("using namespace xpu;");
  }

  void defines() {
    line("#define XPU_NAME ", elementwise_kernel_name(expression));
    line("#define XPU_POINTERS ", pointers(true));
    line("#define XPU_POINTER_NAMES ", pointers(false));
    line("#define XPU_OPERANDS ", int{v.operands});
    line("#define XPU_PATH ", static_cast<int>(v.path));
    line("#define XPU_DIMS ", int{v.dims});
    line("#define XPU_VECTOR ", int{v.vector});
    line("#define XPU_SUB_GROUPS ", tuning.sub_groups);
    line("#define XPU_GATHERS ", v.gathers() ? 1 : 0);
    std::string kinds;
    for (int k = 0; k < v.operands; ++k) kinds += join(k ? ", " : "", v.kind(k));
    line("#define XPU_KINDS ", kinds);
    line("using Index = ", v.wide_index ? "i64" : "i32", ";");
    line("using T = ", math_type(v.compute), ";");
  }

  // Scalars travel in the widest type of their kind that needs no fp64 where the dtype does not.
  const char* parameter_type() const {
    if (is_float(v.compute) || is_complex(v.compute)) return math_type(v.compute);
    return v.compute == DType::u64 ? "u64" : "i64";
  }

  void types() {
    line("struct Parameters { ", parameter_type(), " value[", std::max(1, expression.scalars), "]; };");
    out += "struct Pointers { ";
    for (int k = 0; k < v.outputs; ++k) out += join("global<", storage_type(v.dtype[k]), "> o", k, "; ");
    for (int i = 0; i < inputs(); ++i) out += join("global<const ", storage_type(input(i)), "> a", i, "; ");
    line("};");
    out += "struct Inputs { ";
    for (int i = 0; i < inputs(); ++i) out += join(storage_type(input(i)), " a", i, "; ");
    line("};");
    out += "struct Outputs { ";
    for (int k = 0; k < v.outputs; ++k) out += join(storage_type(v.dtype[k]), " r", k, "; ");
    line("};");
  }

  void memory() {
    line("XPU_FN void advance(Pointers& x, const i64* by) {");
    for (int k = 0; k < v.outputs; ++k) line("  x.o", k, " += by[", k, "];");
    for (int i = 0; i < inputs(); ++i) line("  x.a", i, " += by[", v.outputs + i, "];");
    line("}");
    line("XPU_FN Inputs load(const Pointers& x, const Index* at) {");
    line("  Inputs in;");
    for (int i = 0; i < inputs(); ++i) line("  in.a", i, " = x.a", i, "[at[", v.outputs + i, "]];");
    line("  return in;");
    line("}");
    line("XPU_FN void store(const Pointers& x, const Index* at, Outputs out) {");
    for (int k = 0; k < v.outputs; ++k) line("  x.o", k, "[at[", k, "]] = out.r", k, ";");
    line("}");
    if (v.vector == 1) return;
    line("XPU_FN void load_vector(const Pointers& x, i32 at, Inputs* in) {");
    for (int i = 0; i < inputs(); ++i) {
      line("  auto a", i, " = load_wide<XPU_VECTOR>(x.a", i, " + at);");
      line("  for (int v = 0; v < XPU_VECTOR; ++v) in[v].a", i, " = a", i, "[v];");
    }
    line("}");
    line("XPU_FN void store_vector(const Pointers& x, i32 at, const Outputs* out) {");
    for (int k = 0; k < v.outputs; ++k) {
      line("  Array<", storage_type(v.dtype[k]), ", XPU_VECTOR> r", k, ";");
      line("  for (int v = 0; v < XPU_VECTOR; ++v) r", k, "[v] = out[v].r", k, ";");
      line("  store_wide(x.o", k, " + at, r", k, ");");
    }
    line("}");
  }

  void compute() {
    line(expression.helpers);
    line("XPU_FN Outputs compute(Inputs in, const Parameters& parameters, i64 index) {");
    for (int i = 0; i < inputs(); ++i) {
      const char* type = expression.own_type >> i & 1 ? math_type(input(i)) : "T";
      line("  [[maybe_unused]] ", type, " a", i, " = ", cast, "<", type, ">(in.a", i,
           input(i) == DType::boolean ? " != 0);" : ");");
    }
    for (int s = 0; s < expression.scalars; ++s)
      line("  [[maybe_unused]] T p", s, " = (T)parameters.value[", s, "];");
    line("  ", expression.body);
    line("  Outputs out;");
    for (int k = 0; k < v.outputs; ++k)
      line("  out.r", k, " = (", storage_type(v.dtype[k]), ")", cast, "<", value_type(v.dtype[k]), ">(",
           expression.outputs[k], ");");
    line("  return out;");
    line("}");
  }
};

}  // namespace

std::string elementwise_kernel_name(const Expression& expression) {
  return "elementwise_" + expression.name;
}

std::string elementwise_source(const Tuning& tuning, const Expression& expression, const Variant& variant) {
  Writer writer{tuning, expression, variant};
  writer.headers();
  writer.defines();
  writer.types();
  writer.memory();
  writer.compute();
  return std::move(writer.out) + std::string(kernel_source("elementwise.sycl"));
}

}  // namespace xpu::kernels

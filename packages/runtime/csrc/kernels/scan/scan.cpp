#include "xpu/kernels/scan.h"

#include "kernels/dtype_text.h"
#include "kernels/require.h"
#include "kernels/scan/line_scan.h"
#include "process/immortal.h"

namespace xpu::kernels {
namespace {

std::string includes(const std::vector<std::string>& headers) {
  std::string text = "#include <xpu/convert.h>\n";
  for (auto& header : headers) text += join("#include <xpu/", header, ".h>\n");
  return text;
}

std::string types(DType in, DType out, const char* second) {
  bool complex = is_complex(in) || is_complex(out);
  auto convert = complex ? "xpu::cast" : "xpu::to";
  return join(complex ? "#include <xpu/complex_exp.h>\n" : "", "using In = ", storage_type(in),
              ";\nusing Out = ", storage_type(out), ";\nusing Out2 = ", second,
              ";\nusing T = ", math_type(out), ";\nXPU_FN T value_of(In x) { return ", convert, "<T>(",
              convert, "<", value_type(in), ">(x)); }\nXPU_FN Out stored(T x) { return ", convert, "<Out>(",
              convert, "<", value_type(out), ">(x)); }\n",
              "struct Outputs { xpu::global<Out> first; xpu::global<Out2> second; };\n");
}

std::string value_prelude(const ScanExpression& e, const Tensor& out, const Tensor& in) {
  return includes(e.headers) + types(in.dtype, out.dtype, "xpu::u8") +
         join(
             "using A = T;\nXPU_FN A load(In x, xpu::i64) { return value_of(x); }\nXPU_FN A combine(A a, A "
             "b) { return ",
             e.combine, "; }\nXPU_FN A identity() { return ", e.identity,
             "; }\nXPU_FN void store(A a, Outputs out, xpu::i64 at) { out.first[at] = stored(a); }\n");
}

// A value and where it was; before the first element the position is -1. Values narrower than a word are
// widened: the compiler dies of padding bytes in a shuffle.
std::string extreme_prelude(const char* comparison, const Tensor& out, const Tensor& in) {
  return includes({"math"}) + types(in.dtype, out.dtype, "xpu::i64") +
         join(
             "template <class V, bool Narrow = (sizeof(V) < 4)> struct Kept { using type = V; };\n"
             "template <class V> struct Kept<V, true> { using type = int; };\n"
             "struct A { xpu::i64 at; Kept<T>::type value; };\n"
             "XPU_FN A load(In x, xpu::i64 at) { return {at, value_of(x)}; }\n"
             "XPU_FN A identity() { return {-1, 0}; }\n"
             "XPU_FN A combine(A a, A b) {\n"
             "  bool later = b.value != b.value || (a.value == a.value && b.value ",
             comparison,
             " a.value);\n"
             "  bool take = b.at >= 0 && (a.at < 0 || later);\n"
             "  return {take ? b.at : a.at, take ? b.value : a.value};\n"
             "}\n"
             "XPU_FN void store(A a, Outputs out, xpu::i64 at) {\n"
             "  out.first[at] = stored((T)a.value);\n"
             "  if (out.second) out.second[at] = a.at;\n"
             "}\n");
}

void extreme(LineScanner& scanner, const char* name, const char* comparison, Stream stream,
             const Tensor& values, const Tensor& indices, const Tensor& in, int dim) {
  expect<UsageError>(values.dtype == in.dtype, name, ": the values are ", values.describe(), ", expected ",
                     name_of(in.dtype));
  if (indices.data) {
    require_dtype(name, "the index array", indices, DType::i64);
    require_same_shape(name, indices, in);
  }
  LineScan call{name, values, indices, in, dim, {}, false, 16, true};
  scanner.run(stream, call, [&] { return extreme_prelude(comparison, values, in); });
}

}  // namespace

struct Scan::State {
  ScanExpression expression;
  mutable LineScanner scanner;
};

Scan::Scan(ScanExpression expression) : state_(std::make_unique<State>()) {
  state_->expression = std::move(expression);
}
Scan::~Scan() = default;

void Scan::operator()(Stream stream, const Tensor& out, const Tensor& in, int dim,
                      ScanOptions options) const {
  auto& e = state_->expression;
  LineScan call{e.name.c_str(),
                out,
                Tensor(),
                in,
                dim,
                options,
                e.commutes,
                out.dtype == DType::f64 ? 8 : std::max<std::size_t>(4, size_of(out.dtype))};
  state_->scanner.run(stream, call, [&] { return value_prelude(e, out, in); });
}

void cumsum(Stream stream, const Tensor& out, const Tensor& in, int dim, ScanOptions options) {
  static auto& op = immortal<Scan>(ScanExpression{"cumsum", "T(a + b)", "T(0)", true});
  op(stream, out, in, dim, options);
}

void cumprod(Stream stream, const Tensor& out, const Tensor& in, int dim, ScanOptions options) {
  static auto& op = immortal<Scan>(ScanExpression{"cumprod", "T(a * b)", "T(1)", true});
  op(stream, out, in, dim, options);
}

void logcumsumexp(Stream stream, const Tensor& out, const Tensor& in, int dim, ScanOptions options) {
  expect<UsageError>(is_float(out.dtype) || is_complex(out.dtype), "logcumsumexp: the output is ",
                     out.describe(), ", expected a float or complex dtype");
  static auto& op = immortal<Scan>(
      ScanExpression{"logcumsumexp", "xpu::logaddexp(a, b)", "T(-xpu::infinity())", true, {"exp"}});
  op(stream, out, in, dim, options);
}

void cummax(Stream stream, const Tensor& values, const Tensor& indices, const Tensor& in, int dim) {
  static auto& scanner = immortal<LineScanner>();
  extreme(scanner, "cummax", ">=", stream, values, indices, in, dim);
}

void cummin(Stream stream, const Tensor& values, const Tensor& indices, const Tensor& in, int dim) {
  static auto& scanner = immortal<LineScanner>();
  extreme(scanner, "cummin", "<=", stream, values, indices, in, dim);
}

}  // namespace xpu::kernels

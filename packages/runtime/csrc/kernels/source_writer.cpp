#include "kernels/source_writer.h"

#include <algorithm>

#include "kernels/dtype_text.h"

namespace xpu::kernels {

std::string SourceWriter::pointers(bool declare) const {
  std::string list;
  auto add = [&](const char* letter, std::size_t i, const char* qualifier, DType dtype) {
    auto type = join("xpu::global<", qualifier, storage_type(dtype), "> ");
    list += join(list.empty() ? "" : ", ", declare ? type : "", letter, i);
  };
  for (std::size_t k = 0; k < outputs_.size(); ++k) add("o", k, "", outputs_[k]);
  for (std::size_t i = 0; i < inputs_.size(); ++i) add("a", i, "const ", inputs_[i]);
  return list;
}

void SourceWriter::headers(const std::vector<std::string>& more) {
  bool complex = is_complex(compute_) || std::any_of(outputs_.begin(), outputs_.end(), is_complex) ||
                 std::any_of(inputs_.begin(), inputs_.end(), is_complex);
  if (complex) cast_ = "xpu::cast";
  line("#include <xpu/group.h>");
  line("#include <xpu/", complex ? "complex" : "convert", ".h>");
  for (auto& header : more) line("#include <xpu/", header, ".h>");
  line("using namespace xpu;");
}

// Scalars travel in the widest type of their kind that needs no fp64 where the dtype does not.
const char* SourceWriter::parameter_type() const {
  if (is_float(compute_) || is_complex(compute_)) return math_type(compute_);
  return compute_ == DType::u64 ? "u64" : "i64";
}

void SourceWriter::types(bool wide_index) {
  line("#define XPU_POINTERS ", pointers(true));
  line("#define XPU_POINTER_NAMES ", pointers(false));
  line("using Index = ", wide_index ? "i64" : "i32", ";");
  line("using T = ", math_type(compute_), ";");
  line("struct Parameters { ", parameter_type(), " value[", std::max(1, scalars_), "]; };");
  text_ += "struct Pointers { ";
  for (std::size_t k = 0; k < outputs_.size(); ++k)
    text_ += join("global<", storage_type(outputs_[k]), "> o", k, "; ");
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    text_ += join("global<const ", storage_type(inputs_[i]), "> a", i, "; ");
  line("};");
  text_ += "struct Inputs { ";
  for (std::size_t i = 0; i < inputs_.size(); ++i) text_ += join(storage_type(inputs_[i]), " a", i, "; ");
  line("};");
  text_ += "struct Outputs { ";
  for (std::size_t k = 0; k < outputs_.size(); ++k) text_ += join(storage_type(outputs_[k]), " r", k, "; ");
  line("};");
}

void SourceWriter::memory(int vector) {
  auto first_input = outputs_.size();
  line("XPU_FN void advance(Pointers& x, const i64* by) {");
  for (std::size_t k = 0; k < outputs_.size(); ++k) line("  x.o", k, " += by[", k, "];");
  for (std::size_t i = 0; i < inputs_.size(); ++i) line("  x.a", i, " += by[", first_input + i, "];");
  line("}");
  line("XPU_FN Inputs load(const Pointers& x, const Index* at) {");
  line("  Inputs in;");
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    line("  in.a", i, " = x.a", i, "[at[", first_input + i, "]];");
  line("  return in;");
  line("}");
  line("XPU_FN void store(const Pointers& x, const Index* at, Outputs out) {");
  for (std::size_t k = 0; k < outputs_.size(); ++k) line("  x.o", k, "[at[", k, "]] = out.r", k, ";");
  line("}");
  if (vector == 1) return;
  line("XPU_FN void load_vector(const Pointers& x, i32 word, Inputs* in) {");
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    line("  auto a", i, " = load_wide<XPU_VECTOR>(x.a", i, ", word);");
    line("  for (int v = 0; v < XPU_VECTOR; ++v) in[v].a", i, " = a", i, "[v];");
  }
  line("}");
  line("XPU_FN void store_vector(const Pointers& x, i32 word, const Outputs* out) {");
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    line("  Array<", storage_type(outputs_[k]), ", XPU_VECTOR> r", k, ";");
    line("  for (int v = 0; v < XPU_VECTOR; ++v) r", k, "[v] = out[v].r", k, ";");
    line("  store_wide(x.o", k, ", word, r", k, ");");
  }
  line("}");
}

void SourceWriter::blocks(int vector) {
  text_ += "struct Blocks { ";
  for (std::size_t k = 0; k < outputs_.size(); ++k)
    text_ += join("Block<", storage_type(outputs_[k]), "> o", k, "; ");
  line("};");
  line("XPU_FN void stage_result(Blocks& x, i32 at, const Outputs", vector == 1 ? "&" : "*", " out) {");
  for (std::size_t k = 0; k < outputs_.size(); ++k)
    if (vector == 1)
      line("  x.o", k, ".data[at] = out.r", k, ";");
    else {
      line("  Array<", storage_type(outputs_[k]), ", XPU_VECTOR> r", k, ";");
      line("  for (int v = 0; v < XPU_VECTOR; ++v) r", k, "[v] = out[v].r", k, ";");
      line("  store_wide(x.o", k, ".data, at, r", k, ");");
    }
  line("}");
  line("XPU_FN void flush_block(const Pointers& x, i32 first, Blocks& blocks) {");
  for (std::size_t k = 0; k < outputs_.size(); ++k)
    line("  streaming_store(x.o", k, " + first, blocks.o", k, ");");
  line("}");
}

void SourceWriter::input_locals(std::uint32_t unconverted_inputs) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const char* type = unconverted_inputs >> i & 1 ? math_type(inputs_[i]) : "T";
    const char* truth = inputs_[i] == DType::boolean ? " != 0);" : ");";
    line("  [[maybe_unused]] ", type, " a", i, " = ", cast_, "<", type, ">(in.a", i, truth);
  }
}

void SourceWriter::scalar_locals() {
  for (int s = 0; s < scalars_; ++s) line("  [[maybe_unused]] T p", s, " = (T)parameters.value[", s, "];");
}

void SourceWriter::output_values(const std::vector<std::string>& expressions) {
  line("  Outputs out;");
  // Values above the largest f8e4m3 saturate, as in PyTorch.
  for (std::size_t k = 0; k < outputs_.size(); ++k)
    if (outputs_[k] == DType::f8e4m3)
      line("  out.r", k, " = xpu::to_sat<xpu::f8e4m3>(", cast_, "<float>(", expressions[k], "));");
    else
      line("  out.r", k, " = (", storage_type(outputs_[k]), ")", cast_, "<", value_type(outputs_[k]), ">(",
           expressions[k], ");");
}

}  // namespace xpu::kernels

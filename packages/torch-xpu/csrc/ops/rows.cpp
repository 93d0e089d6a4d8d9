#include "ops/rows.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <mutex>

#include "device/errors.h"
#include "ops/tensor.h"
#include "xpu/device.h"

namespace torch_xpu {

using at::Tensor;

namespace {

const char* stored_type(at::ScalarType type) {
  switch (type) {
    case at::kHalf:
      return "half";
    case at::kBFloat16:
      return "bf16";
    case at::kFloat:
      return "float";
    case at::kDouble:
      return "double";
    case at::kBool:
      return "u8";
    default:
      TORCH_CHECK_NOT_IMPLEMENTED(false, "not implemented for '", type, "'");
  }
}

constexpr int most = 12;
struct Shape {
  std::int64_t rows, length, inner, chunk;
  std::int64_t outer_stride[most], step[most], inner_stride[most];
};

// Items of a group that share a row. On a CPU one sub-group, which needs no barriers.
std::size_t group_size(const xpu::DeviceInfo& info) {
  return info.is_gpu ? std::min<std::size_t>(256, info.max_work_group_size) : info.sub_group_size;
}

}  // namespace

struct Rows::Variant {
  std::vector<at::ScalarType> types;  // outputs, row outputs, inputs
  std::vector<int> steps;             // of outputs and inputs: 0, 1, or 2 for any
  bool doubles = false;
  /// A lane has a row of its own; otherwise a group has one.
  bool lanes = false;

  std::string key(int device) const {
    std::string text{static_cast<char>(device), static_cast<char>(lanes)};
    for (auto t : types) text += static_cast<char>(t);
    for (auto s : steps) text += static_cast<char>(s);
    return text;
  }
};

std::string Rows::source(const Variant& v) const {
  std::string text = "#include <xpu/convert.h>\n#include <xpu/group.h>\n#include <xpu/element.h>\n";
  auto add = [&](auto&&... parts) { text += c10::str(parts..., "\n"); };
  for (auto& header : text_.headers) add("#include <xpu/", header, ".h>");
  add("using namespace xpu;\nusing T = ", v.doubles ? "double" : "float", ";");
  add("struct Shape { i64 rows, length, inner, chunk, outer_stride[", most, "], step[", most,
      "], inner_stride[", most, "]; };");
  add("struct Parameters { T value[", std::max(1, text_.scalars), "]; };");
  int number = 0;
  for (std::size_t k = 0; k < text_.looks.size(); ++k) {
    auto& look = text_.looks[k];
    int first = number;
    add("struct Look", k, " {");
    for (auto& a : look.accumulators) add("  ", a.type, " s", number++, ";");
    add("};\nstruct Combine", k, " {\n  XPU_FN Look", k, " operator()(Look", k, " left, const Look", k,
        "& right) const {");
    for (int i = first; i < number; ++i)
      add("    auto& s", i, " = left.s", i, "; auto r", i, " = right.s", i, ";");
    add("    ", look.combine, "\n    return left;\n  }\n};");
  }
  auto outputs = text_.outputs.size(), row_outputs = text_.row_outputs.size();
  auto inputs = static_cast<std::size_t>(text_.inputs);
  text += "XPU_KERNEL(1) " + std::string(text_.name) + "(";
  for (std::size_t k = 0; k < v.types.size(); ++k) {
    bool input = k >= outputs + row_outputs;
    text += c10::str("global<", input ? "const " : "", stored_type(v.types[k]), "> x", k, ", ");
  }
  add("Shape s, Parameters parameters) {");
  for (int i = 0; i < text_.scalars; ++i) add("  [[maybe_unused]] T p", i, " = parameters.value[", i, "];");
  add("  [[maybe_unused]] i64 length = s.length;");
  if (v.lanes) {
    add("  const int first = 0, step = 1;");
    add("  i64 begin = group_id() * s.chunk * local_size() + local_id(), every = local_size();");
    add("  i64 end = begin + s.chunk * every; end = end < s.rows ? end : s.rows;");
  } else {
    add("  const int first = local_id(), step = local_size();");
    add("  i64 begin = group_id() * s.chunk, end = begin + s.chunk, every = 1;");
    add("  end = end < s.rows ? end : s.rows;");
  }
  add("  for (i64 row = begin; row < end; row += every) {");
  add("    i64 o = row / s.inner, i = row % s.inner;");
  for (std::size_t k = 0; k < v.types.size(); ++k)
    add("    auto y", k, " = x", k, " + (o * s.outer_stride[", k, "] + i * s.inner_stride[", k, "]);");
  auto step_of = [&](std::size_t k) {
    return v.steps[k] == 2 ? c10::str("s.step[", k, "]") : std::to_string(v.steps[k]);
  };
  auto load = [&] {
    for (std::size_t k = 0; k < inputs; ++k) {
      auto at = outputs + row_outputs + k;
      add("      [[maybe_unused]] T a", k, " = to<T>(y", at, "[e * ", step_of(at), "]);");
    }
  };
  number = 0;
  for (std::size_t k = 0; k < text_.looks.size(); ++k) {
    auto& look = text_.looks[k];
    text += c10::str("    Look", k, " identity", k, "{");
    for (auto& a : look.accumulators) text += c10::str("(", a.type, ")(", a.identity, "), ");
    add("}, state", k, " = identity", k, ";\n    {");
    for (std::size_t i = 0; i < look.accumulators.size(); ++i)
      add("    auto& s", number + static_cast<int>(i), " = state", k, ".s", number + static_cast<int>(i),
          ";");
    add("    for (i64 e = first; e < s.length; e += step) {");
    load();
    add("      ", look.update, "\n    }\n    }");
    if (!v.lanes) add("    state", k, " = group_reduce(state", k, ", Combine", k, "(), identity", k, ");");
    for (std::size_t i = 0; i < look.accumulators.size(); ++i, ++number)
      add("    [[maybe_unused]] auto s", number, " = state", k, ".s", number, ";");
    add("    ", look.finish);
  }
  if (outputs) {
    add("    for (i64 e = first; e < s.length; e += step) {");
    load();
    for (std::size_t k = 0; k < outputs; ++k)
      add("      y", k, "[e * ", step_of(k), "] = to<", stored_type(v.types[k]), ">((T)(", text_.outputs[k],
          "));");
    add("    }");
  }
  for (std::size_t k = 0; k < row_outputs; ++k)
    add("    if (first == 0) y", outputs + k, "[0] = to<", stored_type(v.types[outputs + k]), ">((T)(",
        text_.row_outputs[k], "));");
  add("  }\n}");
  return text;
}

xpu::Kernel Rows::kernel(int device, const Variant& variant) const {
  auto key = variant.key(device);
  {
    std::shared_lock lock(mutex_);
    auto found = kernels_.find(key);
    if (found != kernels_.end()) return found->second;
  }
  auto built = xpu::build_kernel(device, source(variant), text_.name);
  std::lock_guard lock(mutex_);
  return kernels_.emplace(std::move(key), built).first->second;
}

void Rows::operator()(at::ArrayRef<Tensor> outputs, at::ArrayRef<Tensor> row_outputs,
                      at::ArrayRef<Tensor> inputs, at::ArrayRef<double> scalars) const {
  const Tensor& x = inputs[0];
  Variant variant;
  Shape shape{};
  shape.length = x.size(1);
  shape.inner = x.size(2);
  shape.rows = x.size(0) * shape.inner;
  xpu::Args args;
  auto operand = [&](const Tensor& t, std::int64_t step) {
    auto k = variant.types.size();
    TORCH_INTERNAL_ASSERT(k < most);
    variant.types.push_back(t.scalar_type());
    variant.steps.push_back(step == 0 || step == 1 ? static_cast<int>(step) : 2);
    variant.doubles |= t.scalar_type() == at::kDouble;
    shape.outer_stride[k] = t.stride(0);
    shape.inner_stride[k] = t.stride(-1);
    shape.step[k] = step;
    args.add(const_cast<void*>(t.const_data_ptr()));
  };
  for (auto& t : outputs) operand(t, t.stride(1));
  for (auto& t : row_outputs) operand(t, 1);
  for (auto& t : inputs) operand(t, t.stride(1));

  auto device = x.get_device();
  auto& info = xpu::device_info(device);
  auto group = group_size(info);
  auto lanes_in_group = static_cast<std::int64_t>(group);
  variant.lanes = shape.inner >= 8 && x.stride(2) == 1;
  // Enough groups for any device; each takes neighbouring rows.
  constexpr std::int64_t most_groups = 4096;
  auto units = variant.lanes ? (shape.rows + lanes_in_group - 1) / lanes_in_group : shape.rows;
  shape.chunk = (units + most_groups - 1) / most_groups;
  auto groups = static_cast<std::size_t>((units + shape.chunk - 1) / shape.chunk);
  args.add(shape);
  constexpr int most_scalars = 4;
  auto count = static_cast<std::size_t>(std::max(1, text_.scalars));
  TORCH_INTERNAL_ASSERT(count <= most_scalars && scalars.size() == static_cast<std::size_t>(text_.scalars));
  double wide[most_scalars] = {};
  float narrow[most_scalars] = {};
  for (std::size_t i = 0; i < scalars.size(); ++i)
    wide[i] = scalars[i], narrow[i] = static_cast<float>(scalars[i]);
  if (variant.doubles)
    args.add_bytes(wide, count * sizeof(double));
  else
    args.add_bytes(narrow, count * sizeof(float));
  translated(
      [&] { xpu::launch(stream_of(x), kernel(device, variant), xpu::NdRange::linear(groups, group), args); });
}

Tensor rows_along(const Tensor& t, std::int64_t dim) {
  if (t.dim() == 0) return t.view({1, 1, 1});
  std::int64_t outer = 1, inner = 1;
  for (std::int64_t d = 0; d < t.dim(); ++d) (d < dim ? outer : inner) *= d == dim ? 1 : t.size(d);
  return t.view({outer, t.size(dim), inner});
}

}  // namespace torch_xpu

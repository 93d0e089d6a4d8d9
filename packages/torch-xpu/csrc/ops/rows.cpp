#include "ops/rows.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <mutex>

#include "device/errors.h"
#include "ops/kernels.h"
#include "ops/tensor.h"
#include "xpu/device.h"

namespace torch_xpu {

using at::Tensor;

namespace {

const char* element_type(at::ScalarType type) {
  TORCH_CHECK_NOT_IMPLEMENTED(at::isFloatingType(type) || type == at::kBool, "not implemented for '", type,
                              "'");
  return stored_type(dtype_of(type));
}

// Independent accumulators of a lane, so that one need not wait for the last.
constexpr int ways = 4;
constexpr int most = 12;
// A group takes `chunk` units: rows, or blocks of rows with a lane for each.
struct RowsShape {
  std::int64_t units, length, inner, chunk;
  std::int64_t outer_stride[most], step[most], inner_stride[most];
};

// On a CPU a group is one sub-group, which needs no barriers; `wanted` is all that is of use.
std::int64_t group_size(const xpu::DeviceInfo& info, std::int64_t wanted) {
  auto lanes = static_cast<std::int64_t>(info.sub_group_size);
  if (!info.is_gpu) return lanes;
  auto most_items = std::min<std::int64_t>(256, static_cast<std::int64_t>(info.max_work_group_size));
  return std::clamp((wanted + lanes - 1) / lanes * lanes, lanes, most_items);
}

// Elements of a row that local memory is to hold, of a few sizes; 0 for a row that is too long.
int capacity_for(const xpu::DeviceInfo& info, std::int64_t length, std::size_t element) {
  auto room = info.is_gpu ? info.local_memory / 4 : info.local_memory;  // other groups want theirs
  // The last is the largest that leaves a CPU device's 256 KB some room for f32; vocabularies of 50,000 fit.
  for (int capacity : {2048, 8192, 65536 - 4096})
    if (length <= capacity) return capacity * element <= room ? capacity : 0;
  return 0;
}

}  // namespace

struct Rows::Variant {
  std::vector<at::ScalarType> types;  // outputs, row outputs, inputs
  std::vector<int> steps;             // of operands between the lanes: 0, 1, or 2 for any
  bool doubles = false;
  /// A lane has a row of its own; otherwise a group has one.
  bool lanes = false;
  int capacity = 0;  // elements of a row whose kept values local memory holds

  std::string key(int device) const {
    std::string text{static_cast<char>(device), static_cast<char>(lanes), static_cast<char>(capacity >> 11)};
    for (auto t : types) text += static_cast<char>(t);
    for (auto s : steps) text += static_cast<char>(s);
    return text;
  }
};

std::string Rows::source(const Variant& v) const {
  std::string text = v.capacity ? "#define XPU_SIZED_FOR_DEVICE\n" : "";
  text += "#include <xpu/convert.h>\n#include <xpu/group.h>\n#include <xpu/element.h>\n";
  auto add = [&](auto&&... parts) { text += c10::str(parts..., "\n"); };
  for (auto& header : text_.headers) add("#include <xpu/", header, ".h>");
  add("using namespace xpu;\nusing T = ", v.doubles ? "double" : "float", ";");
  add("struct Shape { i64 units, length, inner, chunk, outer_stride[", most, "], step[", most,
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
    text += c10::str("global<", input ? "const " : "", element_type(v.types[k]), "> x", k, ", ");
  }
  add("Shape s, Parameters parameters) {");
  for (int i = 0; i < text_.scalars; ++i) add("  [[maybe_unused]] T p", i, " = parameters.value[", i, "];");
  add("  [[maybe_unused]] i64 length = s.length;");
  if (v.capacity) add("  static Local<T, ", v.capacity, "> memory;");
  if (v.lanes)
    add("  constexpr int first = 0, step = 1; const i64 blocks = (s.inner + local_size() - 1) / "
        "local_size();");
  else
    add("  const int first = local_id(), step = local_size(); const i64 blocks = s.inner;");
  add("  const i64 begin = group_id() * s.chunk, end = min_of(begin + s.chunk, s.units);");
  add("  for (i64 unit = begin; unit < end; ++unit) {");
  add("    i64 o = unit / blocks, i = unit % blocks", v.lanes ? " * local_size();" : ";");
  if (v.lanes) add("    const int lane = local_id();\n    if (i + lane >= s.inner) continue;");
  for (std::size_t k = 0; k < v.types.size(); ++k)
    add("    auto y", k, " = x", k, " + (o * s.outer_stride[", k, "] + i * s.inner_stride[", k, "]);");
  // The stride between lanes is in the text where it is 0 or 1: then a load is a vector or a broadcast.
  auto element = [&](std::size_t k, bool row_output = false) {
    auto between = [&](const char* otherwise) {
      return v.steps[k] == 2 ? c10::str("s.", otherwise, "[", k, "]") : std::to_string(v.steps[k]);
    };
    if (row_output) return v.lanes ? c10::str("lane * ", between("inner_stride")) : std::string("0");
    return v.lanes ? c10::str("e * s.step[", k, "] + lane * ", between("inner_stride"))
                   : c10::str("e * ", between("step"));
  };
  auto load = [&] {
    for (std::size_t k = 0; k < inputs; ++k) {
      auto at = outputs + row_outputs + k;
      add("      [[maybe_unused]] T a", k, " = to<T>(y", at, "[", element(at), "]);");
    }
  };
  number = 0;
  for (std::size_t k = 0; k < text_.looks.size(); ++k) {
    auto& look = text_.looks[k];
    text += c10::str("    Look", k, " identity", k, "{");
    for (auto& a : look.accumulators) text += c10::str("(", a.type, ")(", a.identity, "), ");
    add("}, state", k, " = identity", k, ";");
    // What is the same for all lanes is a branch to a CPU's compiler only where it can see that.
    auto when = v.lanes ? look.when : c10::str("sub_group_any(", look.when, ")");
    add("    ", look.when.empty() ? "" : c10::str("if (", when, ") "), "{");
    add("    Look", k, " ways", k, "[", ways, "];");
    add("    for (int w = 0; w < ", ways, "; ++w) ways", k, "[w] = identity", k, ";");
    auto update = [&](const char* element) {
      add("      i64 e = ", element, ";");
      for (std::size_t i = 0; i < look.accumulators.size(); ++i)
        add("      auto& s", number + static_cast<int>(i), " = ways", k, "[w].s",
            number + static_cast<int>(i), ";");
      load();
      if (text_.kept && k + 1 == text_.looks.size()) {
        add("      T kept = ", text_.kept, ";");
        if (v.capacity) add("      memory.data[e] = kept;");
      }
      add("      ", look.update, "\n    }");
    };
    // What is counted is the same for all lanes: a count of its own would make a vector of each address.
    add("    i64 at", k, " = 0;");
    add("    for (; at", k, " + ", ways, " * step <= s.length; at", k, " += ", ways, " * step)");
    add("#pragma unroll\n    for (int w = 0; w < ", ways, "; ++w) {");
    update(c10::str("at", k, " + w * step + first").c_str());
    add("    for (; at", k, " + first < s.length; at", k, " += step) {\n      constexpr int w = 0;");
    update(c10::str("at", k, " + first").c_str());
    add("    state", k, " = ways", k, "[0];");
    add("    for (int w = 1; w < ", ways, "; ++w) state", k, " = Combine", k, "()(state", k, ", ways", k,
        "[w]);");
    if (!v.lanes) add("    state", k, " = group_reduce(state", k, ", Combine", k, "(), identity", k, ");");
    add("    }");
    for (std::size_t i = 0; i < look.accumulators.size(); ++i, ++number)
      add("    [[maybe_unused]] auto s", number, " = state", k, ".s", number, ";");
    add("    ", look.finish);
  }
  if (outputs) {
    add("    auto write = [&](i64 e) __attribute__((always_inline)) {");
    load();
    if (text_.kept) add("      T kept = ", v.capacity ? "memory.data[e]" : text_.kept, ";");
    for (std::size_t k = 0; k < outputs; ++k)
      add("      y", k, "[", element(k), "] = to<", element_type(v.types[k]), ">((T)(", text_.outputs[k],
          "));");
    add("    };\n    i64 at = 0;");
    add("    for (; at + step <= s.length; at += step) write(at + first);");
    add("    if (at + first < s.length) write(at + first);");
  }
  for (std::size_t k = 0; k < row_outputs; ++k)
    add("    if (first == 0) y", outputs + k, "[", element(outputs + k, true), "] = to<",
        element_type(v.types[outputs + k]), ">((T)(", text_.row_outputs[k], "));");
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
  // Lanes lie along the rows where those are next to each other.
  variant.lanes = x.size(2) >= 8 && x.stride(2) == 1;
  RowsShape shape{};
  shape.length = x.size(1);
  shape.inner = x.size(2);
  xpu::Args args;
  auto operand = [&](const Tensor& t, std::int64_t step) {
    auto k = variant.types.size();
    TORCH_INTERNAL_ASSERT(k < most);
    shape.outer_stride[k] = t.stride(0);
    shape.inner_stride[k] = t.stride(-1);
    shape.step[k] = step;
    auto between = variant.lanes ? shape.inner_stride[k] : step;
    variant.types.push_back(t.scalar_type());
    variant.steps.push_back(between == 0 || between == 1 ? static_cast<int>(between) : 2);
    variant.doubles |= t.scalar_type() == at::kDouble;
    args.add(const_cast<void*>(t.const_data_ptr()));
  };
  for (auto& t : outputs) operand(t, t.stride(1));
  for (auto& t : row_outputs) operand(t, 1);
  for (auto& t : inputs) operand(t, t.stride(1));

  auto device = x.get_device();
  if (text_.kept && !variant.lanes)
    variant.capacity = capacity_for(xpu::device_info(device), shape.length,
                                    variant.doubles ? sizeof(double) : sizeof(float));
  auto group = group_size(xpu::device_info(device), variant.lanes ? shape.inner : shape.length);
  auto blocks = variant.lanes ? (shape.inner + group - 1) / group : shape.inner;
  shape.units = x.size(0) * blocks;
  // Enough groups for any device; each takes neighbouring rows.
  constexpr std::int64_t most_groups = 4096;
  shape.chunk = (shape.units + most_groups - 1) / most_groups;
  auto groups = static_cast<std::size_t>((shape.units + shape.chunk - 1) / shape.chunk);
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
  translated([&] {
    xpu::launch(stream_of(x), kernel(device, variant),
                xpu::NdRange::linear(groups, static_cast<std::size_t>(group)), args);
  });
}

Tensor rows_along(const Tensor& t, std::int64_t dim) {
  if (t.dim() == 0) return t.view({1, 1, 1});
  std::int64_t outer = 1, inner = 1;
  for (std::int64_t d = 0; d < t.dim(); ++d) (d < dim ? outer : inner) *= d == dim ? 1 : t.size(d);
  return t.view({outer, t.size(dim), inner});
}

}  // namespace torch_xpu

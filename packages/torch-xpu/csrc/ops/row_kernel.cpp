#include "ops/row_kernel.h"

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
  bool is_byte = type == at::kBool || type == at::kChar;
  TORCH_CHECK_NOT_IMPLEMENTED(at::isFloatingType(type) || is_byte, "not implemented for '", type, "'");
  return stored_type(dtype_of(type));
}

// Independent accumulators of a lane, so that an update does not depend on the one before it.
constexpr int unroll = 4;
constexpr int max_operands = 12;
// A group takes `chunk` units: rows, or blocks of rows with a lane for each.
struct RowKernelShape {
  std::int64_t units, length, inner, chunk;
  std::int64_t outer_stride[max_operands], step[max_operands], inner_stride[max_operands];
};

// On a CPU a group is one sub-group, which needs no barriers. On a GPU it has at most `wanted` items, rounded
// up.
std::int64_t group_size(const xpu::DeviceInfo& info, std::int64_t wanted) {
  auto lanes = static_cast<std::int64_t>(info.sub_group_size);
  if (!info.is_gpu) return lanes;
  auto max_items = std::min<std::int64_t>(256, static_cast<std::int64_t>(info.max_work_group_size));
  return std::clamp((wanted + lanes - 1) / lanes * lanes, lanes, max_items);
}

// The elements of a row for which to reserve local memory: one of a few sizes, or 0 for a row that is too
// long.
int capacity_for(const xpu::DeviceInfo& info, std::int64_t length, std::size_t element) {
  auto room = info.is_gpu ? info.local_memory / 4 : info.local_memory;  // leaves room for other groups
  // The largest size leaves some room in a CPU device's 256 KB for f32; vocabularies of 50,000 fit.
  for (int capacity : {2048, 8192, 65536 - 4096})
    if (length <= capacity) return capacity * element <= room ? capacity : 0;
  return 0;
}

}  // namespace

struct RowKernel::Variant {
  std::vector<at::ScalarType> types;  // outputs, row outputs, inputs
  std::vector<int> steps;             // of operands between the lanes: 0, 1, or 2 for any
  bool doubles = false;
  /// A lane has a row of its own; otherwise a group has one.
  bool lanes = false;
  int capacity = 0;  // elements of a row whose cached values local memory holds

  std::string key(int device) const {
    std::string text{static_cast<char>(device), static_cast<char>(lanes), static_cast<char>(capacity >> 11)};
    for (auto t : types) text += static_cast<char>(t);
    for (auto s : steps) text += static_cast<char>(s);
    return text;
  }
};

std::string RowKernel::source(const Variant& v) const {
  std::string text = v.capacity ? "#define XPU_SIZED_FOR_DEVICE\n" : "";
  text += "#include <xpu/convert.h>\n#include <xpu/group.h>\n#include <xpu/element.h>\n";
  auto add = [&](auto&&... parts) { text += c10::str(parts..., "\n"); };
  for (auto& header : expression_.headers) add("#include <xpu/", header, ".h>");
  add("using namespace xpu;\nusing T = ", v.doubles ? "double" : "float", ";");
  add("struct Shape { i64 units, length, inner, chunk, outer_stride[", max_operands, "], step[", max_operands,
      "], inner_stride[", max_operands, "]; };");
  add("struct Parameters { T value[", std::max(1, expression_.scalars), "]; };");
  int number = 0;
  for (std::size_t k = 0; k < expression_.passes.size(); ++k) {
    auto& pass = expression_.passes[k];
    int first = number;
    add("struct Pass", k, " {");
    for (auto& a : pass.accumulators) add("  ", a.type, " s", number++, ";");
    add("};\nstruct Combine", k, " {\n  XPU_FN Pass", k, " operator()(Pass", k, " left, const Pass", k,
        "& right) const {");
    for (int i = first; i < number; ++i)
      add("    auto& s", i, " = left.s", i, "; auto r", i, " = right.s", i, ";");
    add("    ", pass.combine, "\n    return left;\n  }\n};");
  }
  auto outputs = expression_.outputs.size(), row_outputs = expression_.row_outputs.size();
  auto inputs = static_cast<std::size_t>(expression_.inputs);
  text += "XPU_KERNEL(1) " + std::string(expression_.name) + "(";
  for (std::size_t k = 0; k < v.types.size(); ++k) {
    bool input = k >= outputs + row_outputs;
    text += c10::str("global<", input ? "const " : "", element_type(v.types[k]), "> x", k, ", ");
  }
  add("Shape s, Parameters parameters) {");
  for (int i = 0; i < expression_.scalars; ++i)
    add("  [[maybe_unused]] T p", i, " = parameters.value[", i, "];");
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
  // A stride between lanes of 0 or 1 is written into the text, so that a load is a broadcast or a vector.
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
  for (std::size_t k = 0; k < expression_.passes.size(); ++k) {
    auto& pass = expression_.passes[k];
    text += c10::str("    Pass", k, " identity", k, "{");
    for (auto& a : pass.accumulators) text += c10::str("(", a.type, ")(", a.identity, "), ");
    add("}, state", k, " = identity", k, ";");
    // A CPU's compiler makes a branch of a condition only if it can see that all lanes agree.
    auto condition = v.lanes ? pass.condition : c10::str("sub_group_any(", pass.condition, ")");
    add("    ", pass.condition.empty() ? "" : c10::str("if (", condition, ") "), "{");
    add("    Pass", k, " partial", k, "[", unroll, "];");
    add("    for (int w = 0; w < ", unroll, "; ++w) partial", k, "[w] = identity", k, ";");
    auto update = [&](const char* element) {
      add("      i64 e = ", element, ";");
      for (std::size_t i = 0; i < pass.accumulators.size(); ++i)
        add("      auto& s", number + static_cast<int>(i), " = partial", k, "[w].s",
            number + static_cast<int>(i), ";");
      load();
      if (expression_.cached && k + 1 == expression_.passes.size()) {
        add("      T cached = ", expression_.cached, ";");
        if (v.capacity) add("      memory.data[e] = cached;");
      }
      add("      ", pass.update, "\n    }");
    };
    // The counter is the same for all lanes: with one for each lane every address would become a vector.
    add("    i64 at", k, " = 0;");
    add("    for (; at", k, " + ", unroll, " * step <= s.length; at", k, " += ", unroll, " * step)");
    add("#pragma unroll\n    for (int w = 0; w < ", unroll, "; ++w) {");
    update(c10::str("at", k, " + w * step + first").c_str());
    add("    for (; at", k, " + first < s.length; at", k, " += step) {\n      constexpr int w = 0;");
    update(c10::str("at", k, " + first").c_str());
    add("    state", k, " = partial", k, "[0];");
    add("    for (int w = 1; w < ", unroll, "; ++w) state", k, " = Combine", k, "()(state", k, ", partial", k,
        "[w]);");
    if (!v.lanes) add("    state", k, " = group_reduce(state", k, ", Combine", k, "(), identity", k, ");");
    add("    }");
    for (std::size_t i = 0; i < pass.accumulators.size(); ++i, ++number)
      add("    [[maybe_unused]] auto s", number, " = state", k, ".s", number, ";");
    add("    ", pass.finish);
  }
  if (outputs) {
    add("    auto write = [&](i64 e) __attribute__((always_inline)) {");
    load();
    if (expression_.cached) add("      T cached = ", v.capacity ? "memory.data[e]" : expression_.cached, ";");
    for (std::size_t k = 0; k < outputs; ++k)
      add("      y", k, "[", element(k), "] = to<", element_type(v.types[k]), ">((T)(",
          expression_.outputs[k], "));");
    add("    };\n    i64 at = 0;");
    add("    for (; at + step <= s.length; at += step) write(at + first);");
    add("    if (at + first < s.length) write(at + first);");
  }
  for (std::size_t k = 0; k < row_outputs; ++k)
    add("    if (first == 0) y", outputs + k, "[", element(outputs + k, true), "] = to<",
        element_type(v.types[outputs + k]), ">((T)(", expression_.row_outputs[k], "));");
  add("  }\n}");
  return text;
}

xpu::Kernel RowKernel::kernel(int device, const Variant& variant) const {
  auto key = variant.key(device);
  {
    std::shared_lock lock(mutex_);
    auto found = kernels_.find(key);
    if (found != kernels_.end()) return found->second;
  }
  auto built = xpu::build_kernel(device, source(variant), expression_.name);
  std::lock_guard lock(mutex_);
  return kernels_.emplace(std::move(key), built).first->second;
}

void RowKernel::operator()(at::ArrayRef<Tensor> outputs, at::ArrayRef<Tensor> row_outputs,
                           at::ArrayRef<Tensor> inputs, at::ArrayRef<double> scalars) const {
  const Tensor& x = inputs[0];
  Variant variant;
  // Each lane has a row of its own if rows are adjacent in memory.
  variant.lanes = x.size(2) >= 8 && x.stride(2) == 1;
  RowKernelShape shape{};
  shape.length = x.size(1);
  shape.inner = x.size(2);
  xpu::Args args;
  auto operand = [&](const Tensor& t, std::int64_t step) {
    auto k = variant.types.size();
    TORCH_INTERNAL_ASSERT(k < max_operands);
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
  if (expression_.cached && !variant.lanes)
    variant.capacity = capacity_for(xpu::device_info(device), shape.length,
                                    variant.doubles ? sizeof(double) : sizeof(float));
  auto group = group_size(xpu::device_info(device), variant.lanes ? shape.inner : shape.length);
  auto blocks = variant.lanes ? (shape.inner + group - 1) / group : shape.inner;
  shape.units = x.size(0) * blocks;
  // Enough groups for any device; each computes neighboring rows.
  constexpr std::int64_t max_groups = 4096;
  shape.chunk = (shape.units + max_groups - 1) / max_groups;
  auto groups = static_cast<std::size_t>((shape.units + shape.chunk - 1) / shape.chunk);
  args.add(shape);
  constexpr int max_scalars = 4;
  auto count = static_cast<std::size_t>(std::max(1, expression_.scalars));
  TORCH_INTERNAL_ASSERT(count <= max_scalars &&
                        scalars.size() == static_cast<std::size_t>(expression_.scalars));
  double wide[max_scalars] = {};
  float narrow[max_scalars] = {};
  for (std::size_t i = 0; i < scalars.size(); ++i)
    wide[i] = scalars[i], narrow[i] = static_cast<float>(scalars[i]);
  if (variant.doubles)
    args.add_bytes(wide, count * sizeof(double));
  else
    args.add_bytes(narrow, count * sizeof(float));
  translate_errors([&] {
    xpu::launch(stream_of(x), kernel(device, variant),
                xpu::NdRange::linear(groups, static_cast<std::size_t>(group)), args);
  });
}

Tensor view_as_rows(const Tensor& t, std::int64_t dim) {
  if (t.dim() == 0) return t.view({1, 1, 1});
  std::int64_t outer = 1, inner = 1;
  for (std::int64_t d = 0; d < t.dim(); ++d) (d < dim ? outer : inner) *= d == dim ? 1 : t.size(d);
  return t.view({outer, t.size(dim), inner});
}

}  // namespace torch_xpu

#include "dnn/epilogue/epilogue_step.h"

#include <algorithm>
#include <string_view>

#include "compile/source/embedded.h"
#include "kernels/contiguous.h"
#include "xpu/error.h"
#include "xpu/kernels/elementwise.h"

namespace xpu::dnn {

namespace {

// Runs the epilogue as an elementwise operation, whose loops suit any layout.
class ElementwiseStep : public Step {
 public:
  ElementwiseStep(const View& from, const View& to, const Epilogue& epilogue)
      : op_(expression(to.tensor.dtype, epilogue)), compute_(compute_dtype(epilogue.type())), to_(to) {
    inputs_.push_back(from);
    for (auto& extra : epilogue.extras()) inputs_.push_back({extra.tensor, extra.operand});
    if (epilogue.reads_result()) inputs_.push_back(to);
  }

  static bool can_run(const View& from, const View& to, const Epilogue& epilogue) {
    constexpr int others = 3;  // the result, its previous content, and the sums
    auto is_plain = [](DType t) { return size_of(t) > 0 && t != DType::f8e8m0 && !is_complex(t); };
    auto is_read = [&](const Epilogue::Extra& extra) {
      bool shares = std::any_of(extra.share, extra.share + to.tensor.ndim, [](auto n) { return n != 1; });
      return is_plain(extra.tensor.dtype) && !shares;
    };
    return is_plain(from.tensor.dtype) && is_plain(to.tensor.dtype) &&
           epilogue.extras().size() + others <= kernels::Elementwise::max_operands &&
           std::ranges::all_of(epilogue.extras(), is_read);
  }

  void run(Stream stream, const std::shared_ptr<const Plan>&, void* const* pointers) const override {
    auto at = [pointers](const View& view) {
      Tensor t = view.tensor;
      t.data = static_cast<char*>(pointers[view.operand]) + view.byte_offset;
      return t;
    };
    std::vector<Tensor> inputs;
    for (auto& input : inputs_) inputs.push_back(at(input));
    op_(stream, {{at(to_)}}, inputs, {}, compute_);
  }

 private:
  static DType compute_dtype(std::string_view type) {
    return type == "double"     ? DType::f64
           : type == "xpu::i32" ? DType::i32
           : type == "xpu::i64" ? DType::i64
                                : DType::f32;
  }
  static kernels::Expression expression(DType result, const Epilogue& epilogue) {
    auto inputs = static_cast<int>(epilogue.extras().size()) + 1;
    kernels::Expression e{.name = "epilogue",
                          .outputs = {join("xpu::stored<", kernel_type(result), ">(v)")},
                          .inputs = inputs + epilogue.reads_result()};
    e.body = "  T v = a0;\n";
    if (epilogue.reads_result()) e.body += join("  T before = a", inputs, ";\n");
    e.body += epilogue.steps();
    e.headers.insert(e.headers.end(), epilogue.headers().begin(), epilogue.headers().end());
    e.helpers = "#define XPU_EXTRA(n) a##n\n";
    return e;
  }

  kernels::Elementwise op_;
  DType compute_;
  View to_;
  std::vector<View> inputs_;
};

void add_kernel_step(Plan& plan, int device, const View& from, const View& to, const Epilogue& epilogue) {
  auto& c = to.tensor;
  auto source =
      epilogue.source() +
      join("#define XPU_C ", kernel_type(c.dtype), "\n#define XPU_FROM ", kernel_type(from.tensor.dtype),
           "\n#define XPU_NDIM ", c.ndim, "\n#define XPU_READS_RESULT ", epilogue.reads_result(), "\n") +
      kernel_source("epilogue.sycl");
  std::vector<std::int64_t> shape{c.numel()};
  for (auto* part : {c.shape, from.tensor.strides, c.strides}) shape.insert(shape.end(), part, part + c.ndim);
  KernelArguments arguments;
  arguments.operand(from.operand, from.byte_offset).operand(to.operand, to.byte_offset);
  arguments.bytes(shape.data(), shape.size() * sizeof shape[0]).append(epilogue.arguments());
  constexpr std::int64_t group = 256, max_groups = 4096;
  auto groups = std::min((c.numel() + group - 1) / group, max_groups);
  auto kernel = build_kernel(device, source, "epilogue");
  plan.add(std::make_unique<KernelStep>(kernel, NdRange::linear(groups, group), std::move(arguments)));
}

}  // namespace

void add_epilogue_step(Plan& plan, int device, const View& from, const View& to, const Epilogue& epilogue) {
  if (ElementwiseStep::can_run(from, to, epilogue))
    plan.add(std::make_unique<ElementwiseStep>(from, to, epilogue));
  else
    add_kernel_step(plan, device, from, to, epilogue);
}

Tensor row_major(const Tensor& shape, DType dtype) {
  return kernels::row_major(nullptr, dtype, shape);
}

namespace {

bool has_no_gaps(const Tensor& t) {
  std::int64_t last = 0;
  for (int d = 0; d < t.ndim; ++d) last += (t.shape[d] - 1) * t.strides[d];
  return last + 1 == t.numel();
}

}  // namespace

void add_conversion_step(Plan& plan, int device, const View& from, const View& to, ExtraOperand zero_point) {
  Epilogue epilogue(from.tensor.ndim, "float");
  epilogue.dequantize(from.tensor, {}, zero_point);
  add_epilogue_step(plan, device, from, to, epilogue);
}

Tensor dense(const Tensor& shape, DType dtype) {
  Tensor t = has_no_gaps(shape) ? shape : row_major(shape, dtype);
  t.dtype = dtype;
  return t;
}

Tensor convert_operand(Plan& plan, int device, const Tensor& from, int& operand, DType dtype,
                       ExtraOperand zero_point) {
  auto to = dense(from, dtype);
  int copy = plan.add_scratch(static_cast<std::size_t>(to.numel()) * size_of(dtype));
  add_conversion_step(plan, device, {from, operand}, {to, copy}, zero_point);
  operand = copy;
  return to;
}

}  // namespace xpu::dnn

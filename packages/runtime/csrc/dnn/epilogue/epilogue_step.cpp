#include "dnn/epilogue/epilogue_step.h"

#include <algorithm>

#include "compile/source/embedded.h"
#include "kernels/contiguous.h"
#include "xpu/error.h"

namespace xpu::dnn {

void add_epilogue_step(Plan& plan, int device, const View& from, const View& to, const Epilogue& epilogue) {
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

void add_conversion_step(Plan& plan, int device, const View& from, const View& to) {
  auto &source = from.tensor, &target = to.tensor;
  bool dense =
      has_no_gaps(source) && std::equal(source.strides, source.strides + source.ndim, target.strides);
  // Memory without gaps, in any order, is copied as one row: its elements are found without division.
  auto flattened = [dense](const View& v) {
    auto& t = v.tensor;
    return dense ? View{Tensor(t.data, t.dtype, {t.numel()}), v.operand, v.byte_offset} : v;
  };
  add_epilogue_step(plan, device, flattened(from), flattened(to), Epilogue(dense ? 1 : source.ndim, "float"));
}

Tensor convert_operand(Plan& plan, int device, const Tensor& from, int& operand, DType dtype) {
  Tensor to = has_no_gaps(from) ? from : row_major(from, dtype);
  to.dtype = dtype;
  int copy = plan.add_scratch(static_cast<std::size_t>(to.numel()) * size_of(dtype));
  add_conversion_step(plan, device, {from, operand}, {to, copy});
  operand = copy;
  return to;
}

}  // namespace xpu::dnn

#include "dnn/epilogue_step.h"

#include <algorithm>

#include "compile/embedded.h"
#include "xpu/error.h"

namespace xpu::dnn {

void add_epilogue_step(Plan& plan, int device, int sums, DType sum_type, const Tensor& c, int c_operand, const Epilogue& epilogue) {
  auto source = epilogue.source() +
                join("#define XPU_C ", kernel_type(c.dtype), "\n#define XPU_SUM ", kernel_type(sum_type), "\n#define XPU_NDIM ", c.ndim,
                     "\n#define XPU_READS_RESULT ", epilogue.reads_result(), "\n") +
                std::string(kernel_source("epilogue.sycl"));
  std::vector<std::int64_t> shape{c.numel()};
  shape.insert(shape.end(), c.shape, c.shape + c.ndim);
  shape.insert(shape.end(), c.strides, c.strides + c.ndim);
  KernelArguments arguments;
  arguments.operand(sums).operand(c_operand).bytes(shape.data(), shape.size() * sizeof shape[0]).append(epilogue.arguments());
  constexpr std::int64_t group = 256, most_groups = 4096;
  auto groups = std::min((c.numel() + group - 1) / group, most_groups);
  plan.add(std::make_unique<KernelStep>(build_kernel(device, source, "epilogue"), NdRange::linear(groups, group), std::move(arguments)));
}

}  // namespace xpu::dnn

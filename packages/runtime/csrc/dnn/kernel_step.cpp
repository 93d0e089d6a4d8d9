#include "dnn/kernel_step.h"

#include <algorithm>

#include "dnn/candidates.h"
#include "kernels/dtype_text.h"
#include "kernels/work_division.h"
#include "xpu/device.h"

namespace xpu::dnn {

Args KernelArguments::bind(void* const* pointers) const {
  Args args;
  for (auto& item : items_) {
    if (auto* operand = std::get_if<Operand>(&item))
      args.add(static_cast<void*>(static_cast<char*>(pointers[operand->index]) + operand->byte_offset));
    else
      args.add_bytes(std::get<1>(item).data(), std::get<1>(item).size());
  }
  return args;
}

void KernelStep::run(Stream stream, const std::shared_ptr<const Plan>&, void* const* pointers) const {
  launch(stream, kernel_, range_, arguments_.bind(pointers));
}

std::size_t row_group(int device) {
  auto& info = device_info(device);
  return info.is_gpu ? std::min<std::size_t>(kernels::gpu_division.max_group_items, info.max_work_group_size)
                     : info.sub_group_size;
}

std::string define_step(const char* name, std::int64_t stride, const char* value) {
  return join("#define ", name, " ", stride == 1 ? "1" : value, "\n");
}

const char* kernel_type(DType dtype) {
  if (size_of(dtype) == 0 || dtype == DType::f8e8m0) return kernels::stored_type(dtype);
  reject_unless(!is_complex(dtype), "no kernel for ", name_of(dtype));
  return kernels::value_type(dtype);
}

}  // namespace xpu::dnn

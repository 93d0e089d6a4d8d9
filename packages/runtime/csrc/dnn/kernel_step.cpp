#include "dnn/kernel_step.h"

#include <algorithm>

#include "dnn/candidates.h"
#include "xpu/device.h"

namespace xpu::dnn {

Args KernelArguments::with(void* const* pointers) const {
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
  launch(stream, kernel_, range_, arguments_.with(pointers));
}

std::size_t row_group(int device) {
  auto& info = device_info(device);
  return info.is_gpu ? std::min<std::size_t>(256, info.max_work_group_size) : info.sub_group_size;
}

std::string define_step(const char* name, std::int64_t stride, const char* value) {
  return join("#define ", name, " ", stride == 1 ? "1" : value, "\n");
}

const char* kernel_type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return "bool";
    case DType::u8:
      return "xpu::u8";
    case DType::i8:
      return "xpu::i8";
    case DType::u16:
      return "xpu::u16";
    case DType::i16:
      return "xpu::i16";
    case DType::u32:
      return "xpu::u32";
    case DType::i32:
      return "xpu::i32";
    case DType::u64:
      return "xpu::u64";
    case DType::i64:
      return "xpu::i64";
    case DType::f16:
      return "xpu::half";
    case DType::bf16:
      return "xpu::bf16";
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    case DType::f8e4m3:
      return "xpu::f8e4m3";
    case DType::f8e5m2:
      return "xpu::f8e5m2";
    case DType::u4:
      return "xpu::u4x2";
    case DType::i4:
      return "xpu::i4x2";
    default:
      throw Refusal{join("no kernel for ", name_of(dtype))};
  }
}

}  // namespace xpu::dnn

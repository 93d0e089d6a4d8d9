// The C functions of kernels.
#include <torch/csrc/inductor/aoti_torch/utils.h>

#include <cstddef>
#include <memory>

#include "ahead/streams.h"
#include "bridge/runtime.h"
#include "torch_xpu/aoti/runtime.h"
#include "xpu/error.h"
#include "xpu/fault.h"
#include "xpu/launch.h"
#include "xpu/module.h"
#include "xpu/ready_kernels.h"

static_assert(sizeof(XpuArgument) == sizeof(xpu::ArgumentItem) &&
              offsetof(XpuArgument, offset) == offsetof(xpu::ArgumentItem, offset) &&
              offsetof(XpuArgument, size) == offsetof(xpu::ArgumentItem, size) &&
              offsetof(XpuArgument, pointer) == offsetof(xpu::ArgumentItem, pointer));

struct XpuKernelOpaque {
  xpu::SharedKernel kernel;
};

AOTITorchError aoti_torch_xpu_get_kernel(std::int32_t device, const char* source, const char* name,
                                         XpuKernelHandle* ret){AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
  torch_xpu::runtime();
  auto kernel = xpu::build_shared_kernel(torch_xpu::device_or_current(device), source, name);
  *ret = new XpuKernelOpaque{std::move(kernel)};
})}

AOTITorchError aoti_torch_xpu_delete_kernel(XpuKernelHandle kernel){
    AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({ delete kernel; })}

AOTITorchError
    aoti_torch_xpu_launch_kernel(XpuKernelHandle handle, void* stream, std::int64_t work_items,
                                 std::int64_t group, const XpuArgument* arguments, std::int64_t count,
                                 const void* values){AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
      xpu::Kernel kernel(handle->kernel.get());
      // launch() checks all else.
      if (work_items < 0 || group <= 0 || count < 0) [[unlikely]]
        xpu::fail<xpu::UsageError>("kernel \"", kernel.name(), "\": got ", work_items,
                                   " work-items in groups of ", group, " and ", count,
                                   " arguments, expected positive numbers");
      xpu::NdRange range;
      range.global[0] = static_cast<std::size_t>(work_items);
      range.local[0] = static_cast<std::size_t>(group);
      xpu::launch(torch_xpu::stream_at(stream, kernel.device()), kernel, range,
                  {reinterpret_cast<const xpu::ArgumentItem*>(arguments), static_cast<std::size_t>(count),
                   static_cast<const unsigned char*>(values)});
    })}

AOTITorchError aoti_torch_xpu_fault_record(std::int32_t device,
                                           std::int64_t* ret){AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
  torch_xpu::runtime();
  *ret = reinterpret_cast<std::int64_t>(xpu::fault_record(torch_xpu::device_or_current(device)));
})}

AOTITorchError aoti_torch_xpu_fault_code(const char* op, const char* text, std::int64_t* ret){
    AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({ *ret = xpu::fault_code(op, text); })}

AOTITorchError aoti_torch_xpu_add_kernels(const char* path) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({ xpu::add_kernels(path); })
}

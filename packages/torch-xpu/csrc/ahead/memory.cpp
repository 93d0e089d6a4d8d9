// The C functions of device memory.
#include "device/memory.h"

#include <torch/csrc/inductor/aoti_torch/utils.h>

#include "ahead/streams.h"
#include "bridge/runtime.h"
#include "torch_xpu/aoti/runtime.h"
#include "xpu/copy.h"

AOTITorchError aoti_torch_xpu_allocate(void* stream, std::size_t bytes,
                                       void** ret){AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
  torch_xpu::runtime();
  *ret = bytes ? torch_xpu::allocate_block(bytes, torch_xpu::stream_at(stream)) : nullptr;
})}

AOTITorchError aoti_torch_xpu_deallocate(void* pointer){AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
  if (pointer) torch_xpu::deallocate_block(pointer);
})}

AOTITorchError aoti_torch_xpu_copy(void* stream, void* to, const void* from, std::size_t bytes) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
    torch_xpu::runtime();
    if (bytes) {
      auto on = torch_xpu::stream_at(stream);
      xpu::copy(on, to, from, bytes);
      on.synchronize();
    }
  })
}

// C functions of the xpu runtime, for code that is compiled ahead of time. Exported by
// libtorch_xpu_device.so.
//
// A stream is the address that aoti_torch_get_current_xpu_stream() gives, or null for the calling thread's
// current stream of the device. All functions are thread-safe. One that fails returns AOTI_TORCH_FAILURE and
// leaves the reason where PyTorch's functions do.
#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#include <cstddef>
#include <cstdint>

/// Raised by one whenever a function here or in c_shim_xpu.h changes in a way that compiled code would
/// notice.
#define TORCH_XPU_AOTI_ABI 1

extern "C" {

/// A kernel of one device. Lives as long as the process, or until it is deleted.
struct XpuKernelOpaque;
using XpuKernelHandle = XpuKernelOpaque*;
/// Completes when the work that was pending on its stream has completed.
struct XpuEventOpaque;
using XpuEventHandle = XpuEventOpaque*;

/// Where an argument of a kernel is among the bytes of all. `offset` is a multiple of 8; `pointer` is true
/// for addresses of device memory.
struct XpuArgument {
  uint16_t offset, size;
  bool pointer;
};

/// Returns the kernel `name` of `source`. Blocks while it is built, unless a cache or a file of
/// aoti_torch_xpu_add_kernels() has it.
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu_get_kernel(int32_t device, const char* source,
                                                           const char* name, XpuKernelHandle* ret);
/// Work that launched the kernel may be pending.
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu_delete_kernel(XpuKernelHandle kernel);
/// Enqueues the kernel on `work_items`, a multiple of `group`; 0 is nothing. The arguments' bytes, `values`,
/// are aligned to 8 and copied.
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu_launch_kernel(XpuKernelHandle kernel, void* stream,
                                                              int64_t work_items, int64_t group,
                                                              const XpuArgument* arguments, int64_t count,
                                                              const void* values);

/// Returns the address to which kernels write failed checks.
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu_fault_record(int32_t device, int64_t* ret);
/// Returns the code of a check of the operation `op`, whose text may use {a} and {b}.
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu_fault_code(const char* op, const char* text, int64_t* ret);

/// Returns a new tensor on a device, as aoti_torch_empty_strided() does, in less time.
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu_empty_strided(int64_t ndim, const int64_t* sizes,
                                                              const int64_t* strides, int32_t dtype,
                                                              int32_t device, AtenTensorHandle* ret);
/// Returns device memory of the pool, for work that is enqueued on the stream from now on.
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu_allocate(void* stream, size_t bytes, void** ret);
/// The pool reuses the memory once work pending on its stream has completed.
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu_deallocate(void* pointer);
/// Copies between any of device and host memory. Has completed on return.
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu_copy(void* stream, void* to, const void* from, size_t bytes);

/// Records an event on the stream.
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu_record_event(void* stream, XpuEventHandle* ret);
/// Sets `ret` to 1 if the event has completed, otherwise to 0.
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu_query_event(XpuEventHandle event, int32_t* ret);
/// Blocks until the event has completed. Fails if its work failed.
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu_wait_event(XpuEventHandle event);
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu_delete_event(XpuEventHandle event);

/// Lets builds take kernels from a file that xpu_runtime.ready_kernels.package() wrote.
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_xpu_add_kernels(const char* path);

}  // extern "C"

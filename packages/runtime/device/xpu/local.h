// Local memory: one copy per work-group, of a size fixed when the kernel is compiled.
//
//   static xpu::Local<float, 256> tile;      inside a kernel (or a function that is not a template)
//   tile[i] = x;  xpu::barrier();
//
// A source that says `#define XPU_SIZED_FOR_DEVICE` is one whose sizes the host chose by what the device has
// (DeviceInfo::local_memory): where it was made for a CPU device, xpu-sdk check does not hold a GPU to it.
#ifndef XPU_DEVICE_LOCAL_H
#define XPU_DEVICE_LOCAL_H
#include <xpu/core.h>

namespace xpu {

// The attribute gives every static of this type the work-group's storage; a local-memory pointer as
// a kernel parameter makes invalid SPIR-V in the run-time compiler, so there is no dynamic size.
template <class T, int N> struct [[__sycl_detail__::wg_scope]] Local {
  T data[N];
  XPU_FN T& operator[](int i) { return data[i]; }
  static constexpr int size() { return N; }
};

}  // namespace xpu

#endif

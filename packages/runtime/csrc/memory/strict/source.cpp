#include "memory/strict/source.h"

#include "memory/noexcept_wait.h"
#include "memory/strict/range.h"
#include "memory/units.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu::strict {

StrictSource::StrictSource(int device) : device_(device) {
  auto& info = device_info(device);
  expect<Unsupported>(info.usm_system && !info.is_gpu,
                      "XPU_STRICT_MEMORY=1 works on the CPU device only, and device ", device, " is ",
                      info.name,
                      ". Choose the CPU with ONEAPI_DEVICE_SELECTOR=opencl:cpu, or unset XPU_STRICT_MEMORY");
}

// The system provides pages only when they are touched, so only this sum keeps a program from using up the
// machine's memory.
void* StrictSource::allocate(std::size_t bytes, Stream stream, memory::Owner owner) {
  std::size_t total = device_info(device_).total_memory;
  std::size_t used = used_.fetch_add(bytes);
  try {
    expect<OutOfMemory>(used <= total && bytes <= total - used, "device ", device_, " has ",
                        memory::format_bytes(total), ", of which ", memory::format_bytes(used), " are used");
    return Range::get().allocate(bytes, device_, stream.id(), owner);
  } catch (...) {
    used_ -= bytes;
    throw;
  }
}

void StrictSource::deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept {
  memory::wait_noexcept(stream);
  Range::get().deallocate(ptr);
  used_ -= bytes;
}

}  // namespace xpu::strict

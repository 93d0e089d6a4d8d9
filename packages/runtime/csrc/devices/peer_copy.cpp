#include "devices/peer_copy.h"

#include <algorithm>

#include "compile/source/embedded.h"
#include "xpu/copy.h"
#include "xpu/device.h"
#include "xpu/event.h"
#include "xpu/host_memory.h"
#include "xpu/launch.h"
#include "xpu/memory.h"

namespace xpu {
namespace {

void copy_by_kernel(Stream stream, void* dst, const void* src, std::size_t bytes) {
  auto kernel = build_kernel(stream.device(), kernel_source("copy_bytes.sycl"), "copy_bytes");
  std::size_t group = std::min<std::size_t>(256, kernel.max_work_group_size());
  std::size_t groups = std::min<std::size_t>((bytes / 8 + group - 1) / group + 1,
                                             8 * device_info(stream.device()).max_compute_units);
  launch(stream, kernel, NdRange::linear(groups, group), args(dst, src, static_cast<std::int64_t>(bytes)),
         bytes);
}

// Each half runs on the device that it reads or writes, by way of pinned host memory, which both streams
// record.
void copy_by_host(Stream stream, void* dst, int dst_device, const void* src, int src_device,
                  std::size_t bytes) {
  void* staging = host_memory::allocate(bytes);
  Stream reader = stream.device() == src_device ? stream : default_stream(src_device);
  Stream writer = stream.device() == dst_device ? stream : default_stream(dst_device);
  reader.wait(stream);
  copy(reader, staging, src, bytes);
  host_memory::record_stream(staging, reader);
  writer.wait(reader);
  copy(writer, dst, staging, bytes);
  host_memory::record_stream(staging, writer);
  host_memory::deallocate(staging);
  stream.wait(writer);
}

}  // namespace

// The OpenCL backend's own copy between devices frees its staging memory inside a driver callback and never
// returns.
bool copy_between_devices(Stream stream, void* dst, const void* src, std::size_t bytes) {
  if (device_count() < 2 || device_info(stream.device()).backend != "opencl") return false;
  int to = memory::find(dst).device, from = memory::find(src).device;
  if (to < 0 || from < 0 || (to == from && to == stream.device())) return false;
  if (can_access_peer(to, from) || to == from)
    copy_by_kernel(stream, dst, src, bytes);
  else
    copy_by_host(stream, dst, to, src, from, bytes);
  return true;
}

}  // namespace xpu

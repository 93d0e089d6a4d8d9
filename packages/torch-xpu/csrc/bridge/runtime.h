// The functions of the device runtime that PyTorch's interfaces need.
//
// The bridge, libtorch_xpu_bridge.so, is loaded with `import torch` and links PyTorch only. The runtime, with
// the vendor libraries and the kernels, is loaded at the first use of the device; it implements this
// interface and hands it over.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/GraphImplInterface.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Stream.h>
#include <c10/macros/Macros.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bridge/api.h"
#include "bridge/profiler.h"

namespace torch_xpu {

struct HostStats {
  c10::CachingAllocator::Stat allocations, allocated_bytes, active_bytes;
  std::int64_t num_host_alloc = 0, num_host_free = 0;
};

/// Devices are identified by number, streams by id: 0 for a device's default stream, otherwise the handle.
/// Functions that are not noexcept may throw c10::Error.
class Runtime {
 public:
  virtual int device_count() = 0;
  /// The calling thread's current device, which all frameworks share.
  virtual int current_device() noexcept = 0;
  virtual void set_current_device(int device) noexcept = 0;
  virtual void synchronize_device(int device) = 0;
  /// The device to whose memory `ptr` points, or -1.
  virtual int device_of_pointer(const void* ptr) = 0;
  /// Bit i is set if the device supports ScalarType i.
  virtual std::uint64_t scalar_types(int device) = 0;

  virtual std::int64_t current_stream(int device) = 0;
  virtual std::int64_t exchange_stream(int device, std::int64_t stream) = 0;
  virtual std::int64_t new_stream(int device, int priority) = 0;
  virtual bool query_stream(int device, std::int64_t stream) = 0;
  virtual void synchronize_stream(int device, std::int64_t stream) = 0;
  virtual bool is_capturing(int device, std::int64_t stream) = 0;
  virtual std::uintptr_t stream_handle(int device, std::int64_t stream) = 0;
  /// The `sycl::queue*` of a stream, for callers that submit to it. Equal to the handle.
  virtual void* stream_queue(int device, std::int64_t stream) = 0;

  virtual void* new_event(bool timing) = 0;
  virtual void delete_event(void* event) noexcept = 0;
  virtual void record(void* event, int device, std::int64_t stream) = 0;
  virtual void wait(void* event, int device, std::int64_t stream) = 0;
  virtual bool query_event(void* event) = 0;
  virtual void synchronize_event(void* event) = 0;
  virtual double elapsed_ms(void* begin, void* end) = 0;

  virtual void* allocate(std::size_t bytes, int device, std::int64_t stream) = 0;
  virtual void deallocate(void* ptr) noexcept = 0;
  virtual void record_stream(void* ptr, int device, std::int64_t stream) = 0;
  virtual void copy(void* dst, const void* src, std::size_t bytes, int device) = 0;
  virtual void empty_cache() = 0;
  virtual c10::CachingDeviceAllocator::DeviceStats stats(int device) = 0;
  virtual void reset_accumulated_stats(int device) = 0;
  virtual void reset_peak_stats(int device) = 0;
  virtual std::pair<std::size_t, std::size_t> memory_info(int device) = 0;

  virtual void* allocate_host(std::size_t bytes) = 0;
  virtual void deallocate_host(void* ptr) noexcept = 0;
  virtual bool is_pinned(const void* ptr) = 0;
  virtual void record_host(void* ptr, int device, std::int64_t stream) = 0;
  virtual void empty_host_cache() = 0;
  virtual HostStats host_stats() = 0;
  virtual void reset_host_peak_stats() = 0;
  virtual void reset_host_accumulated_stats() = 0;

  /// Between start and stop all work is timed. stop_trace() returns it in the order of its host times.
  virtual void start_trace() = 0;
  virtual std::vector<TracedWork> stop_trace() = 0;

  virtual std::unique_ptr<at::GraphImplInterface> new_graph() = 0;

  /// Checks the library of a model that was compiled ahead of time and the files beside it, and lets builds
  /// take its kernels. Throws if they are damaged or were made for another version.
  virtual void open_package(const std::string& model) = 0;

  /// The device's generator that all frameworks of the process share, and a new one.
  virtual const at::Generator& default_generator(int device) = 0;
  virtual at::Generator new_generator(int device) = 0;

 protected:
  ~Runtime() = default;
};

/// Loads the runtime if necessary. Throws c10::Error with the reason if that fails.
TORCH_XPU_PUBLIC Runtime& runtime();
/// The runtime, or null if nothing has used the device yet.
TORCH_XPU_PUBLIC Runtime* runtime_if_loaded() noexcept;

/// The number of devices; before the runtime is loaded, an upper bound. PyTorch asks at the first backward
/// pass, also in programs that never use the device.
TORCH_XPU_PUBLIC int max_device_count() noexcept;

/// The calling thread's current device.
TORCH_XPU_PUBLIC int current_device() noexcept;
/// Sets the current device and returns the previous one. Once the runtime is loaded, throws if there is no
/// such device.
TORCH_XPU_PUBLIC int exchange_device(int device);
/// Sets the current device without that check.
TORCH_XPU_PUBLIC void set_device_unchecked(int device) noexcept;

/// `device`, or the current one for -1.
inline int device_or_current(int device) {
  return device < 0 ? current_device() : device;
}

}  // namespace torch_xpu

/// Exported by libtorch_xpu_device.so. Throws xpu::Error or c10::Error if there is no device, or if the
/// runtime has another ABI.
extern "C" TORCH_XPU_PUBLIC torch_xpu::Runtime* torch_xpu_get_runtime();

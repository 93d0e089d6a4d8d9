// Implements the bridge's Runtime with the runtime of xpu-sdk.
#include "bridge/runtime.h"

#include <c10/core/ScalarType.h>

#include "ahead/package.h"
#include "device/errors.h"
#include "device/generator.h"
#include "device/graph.h"
#include "device/memory.h"
#include "device/runtime.h"
#include "device/statistics.h"
#include "device/streams.h"
#include "device/trace.h"
#include "xpu/abi.h"
#include "xpu/copy.h"
#include "xpu/device.h"
#include "xpu/event.h"
#include "xpu/graph.h"
#include "xpu/host_memory.h"
#include "xpu/interrupt.h"
#include "xpu/memory.h"
#include "xpu/process.h"
#include "xpu/trace.h"

namespace torch_xpu {
namespace {

xpu::Event& event_of(void* event) {
  return *static_cast<xpu::Event*>(event);
}

class SyclRuntime final : public Runtime {
 public:
  int device_count() override { return xpu::device_count(); }
  int current_device() noexcept override { return xpu::current_device(); }
  void set_current_device(int device) noexcept override { xpu::set_device_unchecked(device); }
  void synchronize_device(int device) override {
    translate_errors([&] { xpu::synchronize(device); });
  }
  int device_of_pointer(const void* ptr) override { return xpu::device_of_pointer(ptr); }
  std::uint64_t scalar_types(int device) override {
    std::uint64_t bits = 0;
    for (auto type : {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kBool, at::kHalf, at::kFloat,
                      at::kBFloat16, at::kComplexFloat, at::kUInt16, at::kUInt32, at::kUInt64})
      bits |= std::uint64_t{1} << static_cast<int>(type);
    if (xpu::device_info(device).fp64)
      for (auto type : {at::kDouble, at::kComplexDouble}) bits |= std::uint64_t{1} << static_cast<int>(type);
    return bits;
  }

  std::int64_t current_stream(int device) override { return id_of_stream(xpu::current_stream(device)); }
  std::int64_t exchange_stream(int device, std::int64_t stream) override {
    return translate_errors([&] { return id_of_stream(xpu::exchange_stream(stream_of_id(device, stream))); });
  }
  std::int64_t new_stream(int device, int priority) override {
    return translate_errors([&] { return id_of_stream(xpu::stream_from_pool(device, priority)); });
  }
  bool query_stream(int device, std::int64_t stream) override {
    return translate_errors([&] {
      // A query enqueues nothing, so nothing else refuses it in a forked child or during shutdown.
      xpu::require_thread_allowed();
      return stream_of_id(device, stream).query();
    });
  }
  void synchronize_stream(int device, std::int64_t stream) override {
    translate_errors([&] {
      auto waited = stream_of_id(device, stream);
      // Handles signals during a long wait. May return early, so the second call waits for the rest.
      xpu::wait_interruptibly(waited);
      waited.synchronize();
    });
  }
  bool is_capturing(int device, std::int64_t stream) override {
    return translate_errors([&] { return xpu::is_capturing(stream_of_id(device, stream)); });
  }
  std::uintptr_t stream_handle(int device, std::int64_t stream) override {
    return translate_errors([&] { return stream_of_id(device, stream).handle(); });
  }
  void* stream_queue(int device, std::int64_t stream) override {
    return translate_errors([&] { return static_cast<void*>(&stream_of_id(device, stream).queue()); });
  }

  void* new_event(bool timing) override { return new xpu::Event(timing); }
  void delete_event(void* event) noexcept override { delete &event_of(event); }
  void record(void* event, int device, std::int64_t stream) override {
    translate_errors([&] { event_of(event).record(stream_of_id(device, stream)); });
  }
  void wait(void* event, int device, std::int64_t stream) override {
    translate_errors([&] { stream_of_id(device, stream).wait(event_of(event)); });
  }
  bool query_event(void* event) override {
    return translate_errors([&] {
      xpu::require_thread_allowed();  // as in query_stream()
      return event_of(event).query();
    });
  }
  void synchronize_event(void* event) override {
    translate_errors([&] {
      auto& waited = event_of(event);
      xpu::wait_interruptibly(waited);  // as in synchronize_stream()
      waited.synchronize();
    });
  }
  double elapsed_ms(void* begin, void* end) override {
    return translate_errors([&] { return event_of(begin).elapsed_ms(event_of(end)); });
  }

  void* allocate(std::size_t bytes, int device, std::int64_t stream) override {
    return translate_errors([&] { return allocate_block(bytes, stream_of_id(device, stream)); });
  }
  void deallocate(void* ptr) noexcept override { deallocate_block(ptr); }
  void record_stream(void* ptr, int device, std::int64_t stream) override {
    translate_errors([&] { xpu::memory::record_stream(ptr, stream_of_id(device, stream)); });
  }
  void copy(void* dst, const void* src, std::size_t bytes, int device) override {
    translate_errors([&] { xpu::copy(xpu::current_stream(device), dst, src, bytes); });
  }
  void empty_cache() override {
    translate_errors([&] {
      for (int device = 0; device < xpu::device_count(); ++device) xpu::memory::empty_cache(device);
    });
  }
  c10::CachingDeviceAllocator::DeviceStats stats(int device) override {
    return translate_errors([&] { return as_torch(xpu::memory::stats(device)); });
  }
  void reset_accumulated_stats(int device) override {
    translate_errors([&] { xpu::memory::reset_accumulated_stats(device); });
  }
  void reset_peak_stats(int device) override {
    translate_errors([&] { xpu::memory::reset_peak_stats(device); });
  }
  std::pair<std::size_t, std::size_t> memory_info(int device) override {
    auto info = translate_errors([&] { return xpu::memory_info(device); });
    return {info.free, info.total};
  }

  void* allocate_host(std::size_t bytes) override {
    return translate_errors([&] { return xpu::host_memory::allocate(bytes); });
  }
  void deallocate_host(void* ptr) noexcept override { xpu::host_memory::deallocate(ptr); }
  bool is_pinned(const void* ptr) override { return xpu::host_memory::is_pinned(ptr); }
  void record_host(void* ptr, int device, std::int64_t stream) override {
    translate_errors([&] { xpu::host_memory::record_stream(ptr, stream_of_id(device, stream)); });
  }
  void empty_host_cache() override {
    translate_errors([] { xpu::host_memory::empty_cache(); });
  }
  HostStats host_stats() override { return as_torch(xpu::host_memory::stats()); }
  void reset_host_peak_stats() override { xpu::host_memory::reset_peak_stats(); }
  void reset_host_accumulated_stats() override { xpu::host_memory::reset_accumulated_stats(); }

  void start_trace() override {
    translate_errors([] { xpu::trace::start(); });
  }
  std::vector<TracedWork> stop_trace() override { return traced_work(); }

  std::unique_ptr<at::GraphImplInterface> new_graph() override { return make_graph(); }

  void open_package(const std::string& model) override {
    translate_errors([&] { torch_xpu::open_package(model); });
  }

  const at::Generator& default_generator(int device) override { return torch_xpu::default_generator(device); }
  at::Generator new_generator(int device) override { return torch_xpu::new_generator(device); }
};

}  // namespace

Runtime& sycl_runtime() {
  static auto* instance = new SyclRuntime;
  return *instance;
}

}  // namespace torch_xpu

torch_xpu::Runtime* torch_xpu_get_runtime() {
  xpu::require_abi(XPU_RUNTIME_ABI, "torch-xpu");
  TORCH_CHECK(xpu::device_count() > 0, "there is no xpu device");
  return &torch_xpu::sycl_runtime();
}

#include "dnn/engine.h"

#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl_sycl.hpp>
#include <sycl/sycl.hpp>
#include <vector>

#include "process/immortal.h"
#include "process/shutdown.h"
#include "xpu/device.h"
#include "xpu/dnn/plans.h"
#include "xpu/error.h"

namespace xpu::dnn {
namespace {

struct Engine {
  std::once_flag once;
  dnnl::engine engine;
  std::string unsupported_reason;
};

void create(Engine& entry, int device) {
  if (generic_backend()) {
    entry.unsupported_reason = "oneDNN is not used on a generic SYCL backend";
    return;
  }
  try {
    entry.engine = dnnl::sycl_interop::make_engine(sycl_device(device), sycl_context(device));
    shutdown::reregister_exit_handler();  // an engine loads the library of its threads
  } catch (const dnnl::error& e) {
    entry.unsupported_reason = join("oneDNN has no engine for ", device_info(device).name, ": ", e.what());
  }
}

Engine& entry_of(int device) {
  static auto& engines = immortal<std::deque<Engine>>(static_cast<std::size_t>(device_count()));
  auto& entry = engines.at(device);
  std::call_once(entry.once, create, std::ref(entry), device);
  return entry;
}

struct QueueStream {
  sycl::queue queue;
  dnnl::stream stream;
};

}  // namespace

const std::string& unsupported_reason(int device) {
  return entry_of(device).unsupported_reason;
}

// The build is the third number of "22.43.24595.41" (OpenCL) and of "1.3.24595" (Level Zero). Up to
// `last_bad_build`, the driver writes past the argument block of the kernels of oneDNN's matrix products.
std::string onednn_matmul_unsupported_reason(int device) {
  constexpr int last_bad_build = 24595;
  auto& info = device_info(device);
  int build = 0;
  bool bad = info.type == "gpu" && std::sscanf(info.driver_version.c_str(), "%*d.%*d.%d", &build) == 1 &&
             build <= last_bad_build;
  if (bad)
    return join("the GPU's driver ", info.driver_version,
                " corrupts memory when it launches oneDNN's matrix kernels: install a newer one");
  return unsupported_reason(device);
}

const dnnl::engine& engine_of(int device) {
  auto& entry = entry_of(device);
  expect<Unsupported>(entry.unsupported_reason.empty(), entry.unsupported_reason);
  return entry.engine;
}

// Pending work points to its oneDNN stream, so streams are never destroyed; there is one for each queue.
dnnl::stream& stream_of(int device, sycl::queue& queue) {
  thread_local QueueStream* last = nullptr;
  if (last && last->queue == queue) return last->stream;
  static std::mutex mutex;
  static auto& streams = immortal<std::deque<QueueStream>>();
  std::lock_guard lock(mutex);
  for (auto& entry : streams)
    if (entry.queue == queue) return (last = &entry)->stream;
  streams.push_back({queue, dnnl::sycl_interop::make_stream(engine_of(device), queue)});
  return (last = &streams.back())->stream;
}

}  // namespace xpu::dnn

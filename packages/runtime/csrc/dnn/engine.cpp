#include "dnn/engine.h"

#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl_sycl.hpp>
#include <sycl/sycl.hpp>
#include <vector>

#include "immortal.h"
#include "shutdown.h"
#include "xpu/device.h"
#include "xpu/dnn/plans.h"
#include "xpu/error.h"

namespace xpu::dnn {
namespace {

struct Engine {
  std::once_flag once;
  dnnl::engine engine;
  std::string refusal;
};

void make(Engine& entry, int device) {
  if (generic_backend()) {
    entry.refusal = "oneDNN is not used on a generic SYCL backend";
    return;
  }
  try {
    entry.engine = dnnl::sycl_interop::make_engine(sycl_device(device), sycl_context(device));
    shutdown::reregister_exit_handler();  // an engine loads its threads' library
  } catch (const dnnl::error& e) {
    entry.refusal = join("oneDNN has no engine for ", device_info(device).name, ": ", e.what());
  }
}

Engine& entry_of(int device) {
  static auto& engines = immortal<std::deque<Engine>>(static_cast<std::size_t>(device_count()));
  auto& entry = engines.at(device);
  std::call_once(entry.once, make, std::ref(entry), device);
  return entry;
}

struct Known {
  sycl::queue queue;
  dnnl::stream stream;
};

}  // namespace

const std::string& refusal_of(int device) {
  return entry_of(device).refusal;
}

// The build is the third number of "22.43.24595.41" (OpenCL) and of "1.3.24595" (Level Zero). Up to the one
// below, the driver writes past the argument block of the kernels that oneDNN generates for a matrix product.
std::string onednn_matmul_refusal(int device) {
  constexpr int last_bad_build = 24595;
  auto& info = device_info(device);
  int build = 0;
  bool bad = info.type == "gpu" && std::sscanf(info.driver_version.c_str(), "%*d.%*d.%d", &build) == 1 &&
             build <= last_bad_build;
  if (bad)
    return join("the GPU's driver ", info.driver_version,
                " corrupts memory when it launches oneDNN's matrix kernels: install a newer one");
  return refusal_of(device);
}

const dnnl::engine& engine_of(int device) {
  auto& entry = entry_of(device);
  expect<Unsupported>(entry.refusal.empty(), entry.refusal);
  return entry.engine;
}

// Work in flight points to its oneDNN stream, so streams are never given back: as many as there are queues.
dnnl::stream& stream_of(int device, sycl::queue& queue) {
  thread_local Known* last = nullptr;
  if (last && last->queue == queue) return last->stream;
  static std::mutex mutex;
  static auto& known = immortal<std::deque<Known>>();
  std::lock_guard lock(mutex);
  for (auto& k : known)
    if (k.queue == queue) return (last = &k)->stream;
  known.push_back({queue, dnnl::sycl_interop::make_stream(engine_of(device), queue)});
  return (last = &known.back())->stream;
}

}  // namespace xpu::dnn

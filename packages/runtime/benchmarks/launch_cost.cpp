// Host cost of queueing one small kernel: through xpu::launch and by a bare SYCL submit of the same kernel.
#include <chrono>
#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>
#include <sycl/sycl.hpp>

#include "xpu/device.h"
#include "xpu/graph.h"
#include "xpu/launch.h"
#include "xpu/memory.h"

namespace {

namespace ext = sycl::ext::oneapi::experimental;
constexpr const char* source =
    "#include <xpu/core.h>\n"
    "XPU_KERNEL(1) add(xpu::global<const float> a, xpu::global<const float> b, xpu::global<float> c, long n) "
    "{\n"
    "  long i = xpu::global_id();\n"
    "  if (i < n) c[i] = a[i] + b[i];\n"
    "}\n";
constexpr std::int64_t elements = 64;
constexpr int launches = 100;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Bench {
  xpu::Stream stream = xpu::default_stream(0), exposed = xpu::stream_from_pool(0);
  xpu::Kernel kernel = xpu::build_kernel(0, source, "add");
  sycl::queue bare{xpu::sycl_context(0), xpu::sycl_device(0), sycl::property::queue::in_order()};
  float* a = static_cast<float*>(xpu::memory::allocate(elements * 4, stream));
  float* b = static_cast<float*>(xpu::memory::allocate(elements * 4, stream));
  float* c = static_cast<float*>(xpu::memory::allocate(elements * 4, stream));
  xpu::Graph graph;

  Bench() {
    exposed.queue();  // a caller has it from now on
    graph.begin(stream);
    for (int i = 0; i < launches; ++i) ours();
    graph.end();
  }
  void ours() { launch_on(stream); }
  void launch_on(xpu::Stream on) {
    xpu::launch(on, kernel, xpu::NdRange::linear(1, elements), xpu::args(a, b, c, elements));
  }
  void theirs() {
    ext::submit(bare, [&](sycl::handler& h) {
      h.set_args(a, b, c, elements);
      h.parallel_for(sycl::nd_range<1>(elements, elements), kernel.native());
    });
  }
};

Bench& bench() {
  static auto* one = new Bench;
  return *one;
}

// Waits for what is enqueued before and after, so that only the host's part of `work` is counted.
template <class F>
double host_time(F work) {
  auto& at = bench();
  at.stream.synchronize();
  at.exposed.synchronize();
  at.bare.wait();
  double begin = seconds();
  work(at);
  double taken = seconds() - begin;
  at.stream.synchronize();
  at.exposed.synchronize();
  at.bare.wait();
  return taken / launches;
}

}  // namespace

extern "C" {
double launch_ours() {
  return host_time([](Bench& b) {
    for (int i = 0; i < launches; ++i) b.ours();
  });
}
double launch_exposed() {
  return host_time([](Bench& b) {
    for (int i = 0; i < launches; ++i) b.launch_on(b.exposed);
  });
}
double launch_bare() {
  return host_time([](Bench& b) {
    for (int i = 0; i < launches; ++i) b.theirs();
  });
}
double replay_ours() {
  return host_time([](Bench& b) { b.graph.replay(b.stream); });
}
}

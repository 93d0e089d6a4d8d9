// y = 2 * x on the first device, from C++.
#include <xpu/copy.h>
#include <xpu/device.h>
#include <xpu/error.h>
#include <xpu/launch.h>
#include <xpu/memory.h>
#include <xpu/stream.h>

#include <cstdio>
#include <vector>

const char* source = R"(
#include <xpu/core.h>
XPU_KERNEL(1) twice(xpu::global<const float> x, xpu::global<float> y, long n) {
  long i = xpu::global_id();
  if (i < n) y[i] = 2 * x[i];
}
)";

int main() try {
  xpu::require_abi(XPU_RUNTIME_ABI, "first");
  std::printf("%s\n", xpu::device_info(0).name.c_str());

  long n = 1000;
  std::vector<float> host(n, 21.0f);
  std::size_t bytes = n * sizeof(float);
  xpu::Stream stream = xpu::default_stream(0);
  auto* x = static_cast<float*>(xpu::memory::allocate(bytes, stream));
  auto* y = static_cast<float*>(xpu::memory::allocate(bytes, stream));

  xpu::copy(stream, x, host.data(), bytes);
  xpu::Kernel twice = xpu::build_kernel(0, source, "twice");
  xpu::launch(stream, twice, xpu::NdRange::linear(16, 64), xpu::args(x, y, n));
  xpu::copy(stream, host.data(), y, bytes);
  stream.synchronize();

  std::printf("%g %g\n", host.front(), host.back());
  xpu::memory::deallocate(x);
  xpu::memory::deallocate(y);
} catch (const xpu::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}

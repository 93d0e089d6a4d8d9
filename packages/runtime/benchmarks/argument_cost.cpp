// Host cost of a launch by the number of arguments: the peer of Python's Launcher, which launches the same
// kernels.
#include <chrono>
#include <string>
#include <vector>

#include "xpu/launch.h"
#include "xpu/memory.h"

namespace {

constexpr int launches = 100;
constexpr std::int64_t elements = 64;

struct Bench {
  xpu::Stream stream = xpu::default_stream(0);
  xpu::SharedKernel kernel;
  xpu::ManyArgs args;

  Bench(const char* source, int pointers) : kernel(xpu::build_shared_kernel(0, source, "add_all")) {
    void* memory = xpu::memory::allocate(elements * 4, stream);
    for (int i = 0; i < pointers; ++i) args.add_bytes(&memory, sizeof memory, true);
    args.add_bytes(&elements, sizeof elements);
    float factor = 1;
    args.add_bytes(&factor, sizeof factor);
  }
  double run() {
    stream.synchronize();
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i)
      xpu::launch(stream, xpu::Kernel(kernel.get()), xpu::NdRange::linear(1, elements), args);
    std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    stream.synchronize();
    return taken.count();
  }
};

std::vector<Bench*> made;

}  // namespace

extern "C" {
/// Returns the number of a kernel for run_launches().
int make_launches(const char* source, int pointers) {
  made.push_back(new Bench(source, pointers));
  return static_cast<int>(made.size()) - 1;
}
/// Returns the seconds of 100 launches.
double run_launches(int number) {
  return made[static_cast<std::size_t>(number)]->run();
}
}

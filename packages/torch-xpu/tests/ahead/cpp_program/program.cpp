// Tensors, a stream, a package of a compiled model and an exit with work pending, without Python.
#include <ATen/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <cstdio>
#include <exception>

namespace {

int load_and_run(const char* path, const at::Tensor& input) {
  try {
    torch::inductor::AOTIModelPackageLoader loader(path);
    std::printf("package %g\n", loader.run({input})[0].sum().item().toDouble());
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace

int main(int count, char** arguments) {
  auto empty = at::empty({2}, at::kXPU);
  c10::impl::VirtualGuardImpl devices(c10::DeviceType::XPU);
  std::printf("device %d of %d\n", int{empty.get_device()}, int{devices.deviceCount()});

  auto x = at::arange(1000, empty.options());
  std::printf("sum %g\n", x.mul(2).add(1).sum().item().toDouble());
  auto stream = devices.getNewStream(empty.device(), 0);
  {
    c10::StreamGuard guard(stream);
    x = x.add(1);
  }
  stream.synchronize();
  std::printf("sum on a stream %g\n", x.sum().item().toDouble());

  if (count > 1) return load_and_run(arguments[1], at::ones({4}, empty.options()));

  auto product = at::ones({1000, 1000}, empty.options());
  for (int i = 0; i < 10; ++i) product = product.mm(product).div(1000);
  return 3;  // the program's own status, whatever is pending
}

// Tensors, a stream and an exit with work pending, without Python.
#include <ATen/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cstdio>

int main() {
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

  auto product = at::ones({1000, 1000}, empty.options());
  for (int i = 0; i < 10; ++i) product = product.mm(product).div(1000);
  return 3;  // the program's own status, whatever is pending
}

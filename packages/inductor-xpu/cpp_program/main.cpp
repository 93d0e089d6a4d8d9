// Runs a package of AOTInductor on xpu: score FILE COUNT.
//
// The model takes COUNT numbers of words, int64, and a tensor of 16 factors; it returns scores and sums.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: score FILE COUNT\n");
    return 2;
  }
  try {
    c10::InferenceMode inference;
    torch::inductor::AOTIModelPackageLoader model(arguments[1]);
    auto on_xpu = at::TensorOptions().device(at::kXPU);
    auto words = at::arange(std::atoi(arguments[2]), on_xpu.dtype(at::kLong)).remainder(50);
    auto factors = at::arange(16, on_xpu.dtype(at::kFloat));
    for (auto& output : model.run({words, factors})) {
      auto sum = output.sum();  // waits for nothing; item() does
      std::printf("%.4f\n", sum.item<float>());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

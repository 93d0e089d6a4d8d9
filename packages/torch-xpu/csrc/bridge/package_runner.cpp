// Runs models that torch._inductor compiled ahead of time for xpu:
// AOTIModelPackageLoader, in C++ and in Python.
#include <ATen/Context.h>
#include <torch/csrc/inductor/aoti_runner/model_container_runner.h>

#include <memory>
#include <string>
#include <vector>

#include "bridge/interpreter.h"
#include "bridge/runtime.h"

namespace torch_xpu {
namespace {

class PackageRunner final : public torch::inductor::AOTIModelContainerRunner {
 public:
  PackageRunner(const std::string& model, std::size_t num_models, int device,
                const std::string& kernel_folder, bool run_single_threaded)
      : AOTIModelContainerRunner(model, num_models, "xpu:" + std::to_string(device), kernel_folder,
                                 run_single_threaded),
        device_(device) {}

 private:
  std::vector<at::Tensor> run_impl(std::vector<AtenTensorHandle>& inputs, void* stream) override {
    UnlockedInterpreter unlocked;
    if (!stream) {
      auto& loaded = runtime();
      stream = reinterpret_cast<void*>(loaded.stream_handle(device_, loaded.current_stream(device_)));
    }
    return AOTIModelContainerRunner::run_impl(inputs, stream);
  }

  int device_;
};

int device_of(const std::string& text) {
  c10::Device device(text);
  int index = device_or_current(device.index()), count = runtime().device_count();
  TORCH_CHECK(index < count, "the package is for xpu:", index, ", but the process has ", count,
              count == 1 ? " device" : " devices", "; load it with another device_index");
  return index;
}

// What may be wrong with the package is found before any of it is loaded. Kernels may be built, so threads of
// Python go on.
std::unique_ptr<torch::inductor::AOTIModelContainerRunner> make_runner(const std::string& model,
                                                                       std::size_t num_models,
                                                                       const std::string& device,
                                                                       const std::string& kernel_folder,
                                                                       const bool run_single_threaded) {
  TORCH_CHECK(at::globalContext().hasXPU(),
              "libtorch_xpu_bridge.so was loaded too late: PyTorch has already "
              "settled that there is no xpu. Link it "
              "to the program, or load it before the first use of PyTorch.");
  UnlockedInterpreter unlocked;
  int index = device_of(device);
  runtime().open_package(model);
  return std::make_unique<PackageRunner>(model, num_models, index, kernel_folder, run_single_threaded);
}

const torch::inductor::RegisterAOTIModelRunner registered("xpu", &make_runner);

}  // namespace
}  // namespace torch_xpu

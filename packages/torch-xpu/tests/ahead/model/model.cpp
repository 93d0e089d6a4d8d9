// A model as AOTInductor compiles it: returns its input times three, by a kernel, and the address of the
// stream that it ran on. It has no constants.
#include <torch_xpu/aoti/runtime.h>

#define EXPORT extern "C" __attribute__((visibility("default"))) std::int32_t

namespace {

constexpr const char* source = R"(
#include <xpu/core.h>
XPU_KERNEL(1) triple(xpu::global<float> x, long n) {
  long i = xpu::global_id();
  if (i < n) x[i] *= 3;
}
)";

struct Model {
  XpuKernelHandle triple = nullptr;
};

std::int32_t run(const Model& model, AtenTensorHandle input, AtenTensorHandle* outputs, void* stream) {
  struct {
    void* x;
    std::int64_t n;
  } values;
  if (aoti_torch_clone(input, &outputs[0]) || aoti_torch_get_data_ptr(outputs[0], &values.x) ||
      aoti_torch_get_numel(outputs[0], &values.n))
    return 1;
  const XpuArgument arguments[] = {{0, 8, true}, {8, 8, false}};
  if (aoti_torch_xpu_launch_kernel(model.triple, stream, (values.n + 31) / 32 * 32, 32, arguments, 2,
                                   &values))
    return 1;

  const std::int64_t one = 1;
  void* address = nullptr;
  if (aoti_torch_empty_strided(1, &one, &one, aoti_torch_dtype_int64(), aoti_torch_device_type_cpu(), 0,
                               &outputs[1]) ||
      aoti_torch_get_data_ptr(outputs[1], &address))
    return 1;
  *static_cast<std::int64_t*>(address) = reinterpret_cast<std::int64_t>(stream);
  return 0;
}

}  // namespace

EXPORT AOTInductorModelContainerCreateWithDevice(Model** model, std::size_t, const char*, const char*) {
  *model = new Model;
  return aoti_torch_xpu_get_kernel(-1, source, "triple", &(*model)->triple);
}
EXPORT AOTInductorModelContainerDelete(Model* model) {
  aoti_torch_xpu_delete_kernel(model->triple);
  delete model;
  return 0;
}
EXPORT AOTInductorModelContainerGetNumOutputs(Model*, std::size_t* count) {
  *count = 2;
  return 0;
}
EXPORT AOTInductorModelContainerRun(Model* model, AtenTensorHandle* inputs, std::size_t,
                                    AtenTensorHandle* outputs, std::size_t, void* stream, void*) {
  auto failed = run(*model, inputs[0], outputs, stream);
  aoti_torch_delete_tensor_object(inputs[0]);
  inputs[0] = nullptr;  // as a sign that it was taken
  return failed;
}
EXPORT AOTInductorModelContainerRunSingleThreaded(Model* model, AtenTensorHandle* inputs, std::size_t count,
                                                  AtenTensorHandle* outputs, std::size_t output_count,
                                                  void* stream, void* executor) {
  return AOTInductorModelContainerRun(model, inputs, count, outputs, output_count, stream, executor);
}
EXPORT AOTInductorModelContainerGetNumConstants(Model*, std::size_t* count) {
  *count = 0;
  return 0;
}
EXPORT AOTInductorModelContainerGetCallSpec(Model*, const char** in, const char** out) {
  *in = *out = "";
  return 0;
}

// What a model without constants is not asked for.
#define NOT_CALLED(name) \
  EXPORT name() {        \
    return 1;            \
  }
NOT_CALLED(AOTInductorModelContainerGetConstantName)
NOT_CALLED(AOTInductorModelContainerGetConstantOriginalFQN)
NOT_CALLED(AOTInductorModelContainerGetConstantDtype)
NOT_CALLED(AOTInductorModelContainerExtractConstantsMap)
NOT_CALLED(AOTInductorModelContainerUpdateUserManagedConstantBuffer)
NOT_CALLED(AOTInductorModelContainerUpdateConstantBuffer)
NOT_CALLED(AOTInductorModelContainerUpdateInactiveConstantBuffer)
NOT_CALLED(AOTInductorModelContainerRunConstantFolding)
NOT_CALLED(AOTInductorModelContainerSwapConstantBuffer)
NOT_CALLED(AOTInductorModelContainerFreeInactiveConstantBuffer)
NOT_CALLED(AOTInductorModelContainerGetConstantsBlobSize)
NOT_CALLED(AOTInductorModelUpdateConstantsFromBlob)
NOT_CALLED(AOTInductorModelContainerUpdateConstantBufferFromCpu)

#include "compile/ready_kernels.h"

#include "compile/builder.h"
#include "compile/pack_file.h"
#include "env.h"
#include "xpu/device.h"

namespace xpu::ready_kernels {
namespace {

// A build of the library alone has no such file.
const PackFile& modules() {
  static auto* file = new PackFile("xpu_runtime/kernels.ready", "xpu-runtime");
  return *file;
}

const PackFile& images() {
  static auto* file = new PackFile("xpu_cpu_images/images.ready", "xpu-cpu-images");
  return *file;
}

bool may_use_images(int device) {
  static bool on = env::flag("XPU_READY_IMAGES", true);
  auto& info = device_info(device);
  return on && info.type == "cpu" && info.backend == "opencl" && !generic_backend();
}

}  // namespace

std::optional<Bytes> find(const Sha256::Digest& key) {
  return modules().find(key);
}

std::vector<Bytes> of_device(int device) {
  constexpr std::uint64_t gpus = 1, cpus = 32 | 64;
  auto registers = static_cast<std::uint64_t>(cpu_vector_bytes(device));
  return modules().of_devices(device_info(device).is_gpu ? gpus : registers ? registers : cpus);
}

Sha256::Digest image_key(int device, const Bytes& spirv, int vector_bytes) {
  auto& info = device_info(device);
  auto module = Sha256().add(spirv.data(), spirv.size()).hex();
  return Sha256()
      .field(module)
      .field(info.platform)
      .field(info.driver_version)
      .field(std::to_string(vector_bytes))
      .digest();
}

std::optional<Bytes> find_image(int device, const Bytes& spirv) {
  if (!may_use_images(device)) return {};
  return images().find(image_key(device, spirv, machine_vector_bytes()));
}

}  // namespace xpu::ready_kernels

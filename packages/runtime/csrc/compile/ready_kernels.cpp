#include "compile/ready_kernels.h"

#include <cstring>

#include "compile/builder.h"
#include "compile/cpu_features.h"
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

const PackFile& programs() {
  static auto* file = new PackFile("xpu_runtime/programs.ready", "xpu-runtime");
  return *file;
}

const PackFile& images() {
  static auto* file = new PackFile("xpu_cpu_images/images.ready", "xpu-cpu-images");
  return *file;
}

// As in PackFile::of_devices(). Programs of both kinds of CPUs want the kernels that use no assembly.
std::uint64_t kind_of(int device) {
  if (device_info(device).is_gpu) return 1;
  auto registers = static_cast<std::uint64_t>(cpu_vector_bytes(device));
  return registers ? registers : 32;
}

bool may_use_images(int device) {
  auto& info = device_info(device);
  return info.type == "cpu" && info.backend == "opencl" && !generic_backend() && has_images();
}

}  // namespace

bool has_images() {
  static bool on = env::flag("XPU_READY_IMAGES", true);
  return on && !images().empty();
}

std::optional<Bytes> find(const Sha256::Digest& key) {
  return modules().find(key);
}

std::vector<Bytes> of_device(int device) {
  return modules().of_devices(kind_of(device));
}

std::vector<std::vector<Sha256::Digest>> programs_of_device(int device) {
  std::vector<std::vector<Sha256::Digest>> found;
  for (auto& keys : programs().of_devices(kind_of(device))) {
    auto& program = found.emplace_back(keys.size() / sizeof(Sha256::Digest));
    std::memcpy(program.data(), keys.data(), program.size() * sizeof(Sha256::Digest));
  }
  return found;
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

std::size_t count_images(int device) {
  std::size_t count = 0;
  for (auto& spirv : of_device(device)) count += find_image(device, spirv).has_value();
  return count;
}

}  // namespace xpu::ready_kernels

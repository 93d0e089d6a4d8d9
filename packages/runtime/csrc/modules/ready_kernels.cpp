#include "xpu/ready_kernels.h"

#include "compile/builder.h"
#include "compile/compilers/compiler.h"
#include "compile/keys.h"
#include "compile/stores/ready_image.h"
#include "compile/stores/ready_spirv.h"
#include "compile/stores/store.h"
#include "modules/build_arguments.h"
#include "process/startup.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/process.h"

namespace xpu {

ReadyKernel build_ready_kernel(int device, std::string_view source, const std::vector<std::string>& options,
                               int sub_group_size, int cpu_vector_bytes) {
  require_text(source, options);
  auto size = checked_sub_group_size(device, sub_group_size);
  auto input = source_input(device, source, size, options, cpu_vector_bytes);
  auto key = spirv_key(input).ready;
  return {{key.begin(), key.end()}, build_source_to_spirv(std::move(input))};
}

std::vector<std::vector<std::uint8_t>> ready_spirv(int device) {
  device_info(device);  // throws for an unknown device
  if (generic_backend()) return {};
  return ready_spirv_of(device);
}

std::size_t ready_image_count(int device) {
  device_info(device);  // throws for an unknown device
  std::size_t count = 0;
  for (auto& spirv : ready_spirv_of(device))
    count += ready_image_store().find(native_key(spirv_input(device, spirv))).has_value();
  return count;
}

void use_images_that_ship(bool wanted) {
  use_ready_images(wanted);
}

std::vector<std::uint8_t> build_ready_image(int device, const std::vector<std::uint8_t>& spirv) {
  startup::require_not_forked();
  read_signatures(spirv);  // throws for invalid modules, which the driver does not check
  auto built = helper_compiler().build(spirv_input(device, spirv));
  expect<Unsupported>(built && !built->native.empty(), "this driver, or this process, makes no images");
  return std::move(built->native);
}

std::vector<std::uint8_t> ready_image_key(int device, const std::vector<std::uint8_t>& spirv,
                                          int vector_bytes) {
  auto key = image_key(device, spirv, vector_bytes);
  return {key.begin(), key.end()};
}

}  // namespace xpu

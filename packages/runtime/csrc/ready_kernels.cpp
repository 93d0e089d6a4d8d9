#include "xpu/ready_kernels.h"

#include "build_arguments.h"
#include "compile/build_service.h"
#include "compile/builder.h"
#include "compile/ready_kernels.h"
#include "startup.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/process.h"

namespace xpu {

ReadyKernel build_ready_kernel(int device, std::string_view source, const std::vector<std::string>& options,
                               int sub_group_size, int cpu_vector_bytes) {
  require_text(source, options);
  auto size = checked_sub_group_size(device, sub_group_size);
  Builder builder(device, flat_source(source, size, cpu_vector_bytes), options);
  auto key = builder.ready_key();
  return {{key.begin(), key.end()}, builder.spirv()};
}

std::vector<std::vector<std::uint8_t>> ready_spirv(int device) {
  device_info(device);  // throws for an unknown device
  if (generic_backend()) return {};
  return ready_kernels::of_device(device);
}

std::size_t ready_image_count(int device) {
  device_info(device);  // throws for an unknown device
  return ready_kernels::count_images(device);
}

std::vector<std::uint8_t> build_ready_image(int device, const std::vector<std::uint8_t>& spirv) {
  startup::require_not_forked();
  read_signatures(spirv);  // throws for invalid modules, which the driver does not check
  auto built = build_service::build({device, "", {}, spirv});
  expect<Unsupported>(built && !built->native.empty(), "this driver, or this process, makes no images");
  return std::move(built->native);
}

std::vector<std::uint8_t> ready_image_key(int device, const std::vector<std::uint8_t>& spirv,
                                          int vector_bytes) {
  auto key = ready_kernels::image_key(device, spirv, vector_bytes);
  return {key.begin(), key.end()};
}

}  // namespace xpu

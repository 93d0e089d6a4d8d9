#include "xpu/module.h"

#include <algorithm>

#include <sycl/sycl.hpp>

#include "compile/build_service.h"
#include "compile/builder.h"
#include "compile/ready_kernels.h"
#include "compile/record.h"
#include "compile/sha256.h"
#include "modules.h"
#include "startup.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu {
namespace {

std::string memory_key(int device, std::string_view source, const std::vector<std::string>& options,
                       int sub_group_size) {
  std::string key = join(device, ' ', sub_group_size);
  for (auto& option : options) key.append(1, '\0').append(option);
  return key.append(1, '\n').append(source);
}

SharedKernel find_or_build(int device, std::string key, std::string_view name,
                           const std::function<ProgramPtr()>& make) {
  startup::require_thread_allowed();
  auto module = modules().find(std::move(key), device);
  return {module, &module->kernel(std::string(name), make)};
}

// The compiler would ignore the text after it without an error.
void require_text(std::string_view text, const char* what) {
  expect<UsageError>(text.find('\0') == text.npos, "the ", what, " has a NUL character, after ",
                     std::min(text.find('\0'), text.size()), " bytes of ", text.size());
}

void require_text(std::string_view source, const std::vector<std::string>& options) {
  require_text(source, "kernel source");
  for (auto& option : options) require_text(option, "compiler option");
}

// Returns the size that kernels are built for.
int checked_sub_group_size(int device, int wanted) {
  auto& info = device_info(device);
  if (wanted == 0) return static_cast<int>(info.sub_group_size);
  auto& sizes = info.sub_group_sizes;
  if (std::ranges::count(sizes, wanted)) return wanted;
  std::string offered;
  for (auto size : sizes) offered += (offered.empty() ? "" : ", ") + std::to_string(size);
  fail<UsageError>("sub-group size: got ", wanted, ", expected one of ", offered, ", which ", info.name,
                   " has");
}

}  // namespace

const std::string& Kernel::name() const {
  return state_->name;
}
int Kernel::device() const {
  return state_->device;
}
std::size_t Kernel::max_work_group_size() const {
  return state_->max_work_group_size;
}
sycl::kernel& Kernel::native() const {
  return state_->kernel;
}

Kernel build_kernel(int device, std::string_view source, std::string_view name,
                    const std::vector<std::string>& options, int sub_group_size) {
  auto kernel = build_shared_kernel(device, source, name, options, sub_group_size);
  modules().keep(kernel->module.lock());
  return Kernel(kernel.get());
}

SharedKernel build_shared_kernel(int device, std::string_view source, std::string_view name,
                                 const std::vector<std::string>& options, int sub_group_size) {
  require_text(source, options);
  require_text(name, "kernel's name");
  auto size = checked_sub_group_size(device, sub_group_size);
  auto kernel = find_or_build(device, memory_key(device, source, options, size), name, [&] {
    record_kernel(source, options, size);
    return Builder(device, flat_source(source, size, cpu_vector_bytes(device)), options).build();
  });
  // SYCL never frees an image that it has loaded, so loading one again would take more memory each time.
  if (generic_backend()) modules().keep(kernel->module.lock());
  return kernel;
}

void prestart_build_helpers(int device) {
  startup::require_not_forked();
  device_info(device);  // throws for an unknown device
  build_service::prestart(2);
}

std::vector<std::uint8_t> build_spirv(int device, std::string_view source,
                                      const std::vector<std::string>& options, int sub_group_size) {
  require_text(source, options);
  auto size = checked_sub_group_size(device, sub_group_size);
  return Builder(device, flat_source(source, size, cpu_vector_bytes(device)), options).spirv();
}

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

SharedKernel kernel_from_spirv(int device, const std::vector<std::uint8_t>& spirv, std::string_view name) {
  startup::require_not_forked();
  read_signatures(spirv);  // throws for invalid modules, which the driver does not check
  auto hash = Sha256().add(spirv.data(), spirv.size()).hex();
  return find_or_build(device, join(device, "spirv:", hash), name,
                       [&] { return program_of(device, spirv, hash); });
}

}  // namespace xpu

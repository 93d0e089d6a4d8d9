#include "xpu/module.h"

#include <sycl/sycl.hpp>

#include "compile/builder.h"
#include "compile/compilers/build_service.h"
#include "compile/dump.h"
#include "compile/explain.h"
#include "compile/sha256.h"
#include "modules/build_arguments.h"
#include "modules/module_table.h"
#include "process/startup.h"
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
    list_kernel(source, options, size);
    return build_program(source_input(device, source, size, options, cpu_vector_bytes(device)));
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
  return build_source_to_spirv(source_input(device, source, size, options, cpu_vector_bytes(device)));
}

std::vector<StoreAnswer> explain_kernel(int device, std::string_view source,
                                        const std::vector<std::string>& options, int sub_group_size) {
  require_text(source, options);
  auto size = checked_sub_group_size(device, sub_group_size);
  auto input = source_input(device, source, size, options, cpu_vector_bytes(device));
  if (is_expanded(source)) input.source = source;
  return explain(std::move(input));
}

SharedKernel kernel_from_spirv(int device, const std::vector<std::uint8_t>& spirv, std::string_view name) {
  startup::require_not_forked();
  read_signatures(spirv);  // throws for invalid modules, which the driver does not check
  auto hash = Sha256().add(spirv.data(), spirv.size()).hex();
  return find_or_build(device, join(device, "spirv:", hash), name,
                       [&] { return build_program(spirv_input(device, spirv)); });
}

}  // namespace xpu

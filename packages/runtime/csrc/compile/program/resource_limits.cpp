#include "compile/program/resource_limits.h"

#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu {
namespace {

std::string_view name_in_source(std::string_view name) {
  constexpr std::string_view prefix = "__sycl_kernel_";
  return name.substr(name.starts_with(prefix) ? prefix.size() : 0);
}

std::size_t bytes_of(const std::vector<Parameter>& parameters) {
  std::size_t bytes = 0;
  for (auto& parameter : parameters) bytes = (bytes + 7) / 8 * 8 + parameter.size;
  return bytes;
}

}  // namespace

void require_resources(int device, const Signatures& signatures) {
  auto& info = device_info(device);
  for (auto& [name, signature] : signatures) {
    auto require = [&, &name = name](std::size_t needed, std::size_t available, const char* what) {
      expect<OutOfResources>(needed <= available, "kernel \"", name_in_source(name), "\" needs ", needed,
                             " bytes of ", what, " and ", info.name, " has ", available);
    };
    require(signature.local_bytes.value_or(0), info.local_memory, "local memory");
    require(bytes_of(signature.parameters), info.max_argument_bytes, "arguments");
  }
}

}  // namespace xpu

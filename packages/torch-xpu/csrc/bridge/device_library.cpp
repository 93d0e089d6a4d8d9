#include "bridge/device_library.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <exception>
#include <filesystem>

#include "bridge/runtime.h"

namespace torch_xpu {
namespace {

std::filesystem::path folder_of_this_library() {
  Dl_info about{};
  TORCH_CHECK(dladdr(reinterpret_cast<const void*>(&load_device_library), &about) && about.dli_fname,
              "the file of libtorch_xpu_bridge.so cannot be found");
  return std::filesystem::canonical(about.dli_fname).parent_path();
}

}  // namespace

Runtime& load_device_library() {
  auto path = folder_of_this_library() / "libtorch_xpu_device.so";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  TORCH_CHECK(library, "the xpu runtime cannot be loaded: ", dlerror(),
              ". Run `xpu-sdk doctor` to see which layer is at fault.");
  auto* get_runtime =
      reinterpret_cast<decltype(&torch_xpu_get_runtime)>(dlsym(library, "torch_xpu_get_runtime"));
  TORCH_CHECK(get_runtime, path.string(), " is of another version of torch-xpu: ", dlerror());
  try {
    return *get_runtime();
  } catch (const c10::Error&) {
    throw;
  } catch (const std::exception& why) {  // the runtime's own, whose types the bridge does not know
    TORCH_CHECK(false, "the xpu runtime cannot be loaded: ", why.what());
  }
}

}  // namespace torch_xpu

// GetPjrtApi(): the table of all entries, and the plugin's own entries.
#include <algorithm>

#include "pjrt/entry.h"
#include "xpu/abi.h"

namespace xla_xpu {
namespace {

void initialize(PJRT_Plugin_Initialize_Args&) {
  xpu::require_abi(XPU_RUNTIME_ABI, "xla-xpu");
}

// JAX then sends programs in this version of StableHLO, instead of in one that is three months old.
void attributes(PJRT_Plugin_Attributes_Args& args) {
  static constexpr char name[] = "stablehlo_current_version";
  static constexpr std::int64_t version[] = {1, 17, 0};
  static const PJRT_NamedValue value = {
      .struct_size = PJRT_NamedValue_STRUCT_SIZE,
      .extension_start = nullptr,
      .name = name,
      .name_size = sizeof(name) - 1,
      .type = PJRT_NamedValue_kInt64List,
      .int64_array_value = version,
      .value_size = std::size(version),
  };
  args.attributes = &value;
  args.num_attributes = 1;
}

template <std::size_t size>
struct Name {
  constexpr Name(const char (&name)[size]) { std::copy_n(name, size, text); }
  char text[size];
};

template <Name name, class Args>
void set_unimplemented(PJRT_Error* (*&slot)(Args*)) {
  slot = [](Args*) {
    return make_error(PJRT_Error_Code_UNIMPLEMENTED, xpu::join(name.text, " is not implemented for xpu"));
  };
}
// Two entries return no error; error.cpp defines them.
template <Name, class Args>
void set_unimplemented(void (*&)(Args*)) {}

// Gives every entry a function, so that JAX never calls a null pointer.
void set_all_unimplemented(PJRT_Api& api) {
#define UNIMPLEMENTED(slot) set_unimplemented<#slot>(api.slot);
  PJRT_API_SLOTS(UNIMPLEMENTED)
#undef UNIMPLEMENTED
}

PJRT_Api make_api() {
  PJRT_Api api{};
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.pjrt_api_version = {
      .struct_size = PJRT_Api_Version_STRUCT_SIZE,
      .extension_start = nullptr,
      .major_version = PJRT_API_MAJOR,
      .minor_version = PJRT_API_MINOR,
  };
  set_all_unimplemented(api);
  install_errors(api);
  install_plugin(api);
  install_events(api);
  install_client(api);
  install_devices(api);
  install_memories(api);
  install_topology(api);
  install_buffers(api);
  install_uploads(api);
  install_downloads(api);
  install_copies(api);
  install_views(api);
  install_executables(api);
  install_loaded_executables(api);
  install_execution(api);
  api.extension_start =
      layouts_extension(shardings_extension(memory_descriptions_extension(profiler_extension(nullptr))));
  return api;
}

}  // namespace

void install_plugin(PJRT_Api& api) {
  api.PJRT_Plugin_Initialize = entry<initialize>;
  api.PJRT_Plugin_Attributes = entry<attributes>;
}

}  // namespace xla_xpu

extern "C" __attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api api = xla_xpu::make_api();
  return &api;
}

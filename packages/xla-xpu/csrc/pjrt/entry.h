// Turns functions of the plugin into entries of the C interface, which let no exception escape.
#pragma once

#include <pjrt_c_api.h>

#include <string>

#include "pjrt/error.h"

namespace xla_xpu {

template <class Args>
Args args_of(void (*)(Args&));

/// Calls `body(args)` and returns an exception that it throws as an error.
template <auto body>
PJRT_Error* entry(decltype(args_of(body))* args) noexcept {
  try {
    body(*args);
    return nullptr;
  } catch (...) {
    return current_error();
  }
}

/// Points a pair of fields at text that outlives the call.
inline void give(const std::string& text, const char*& begin, std::size_t& size) {
  begin = text.data();
  size = text.size();
}

// Each fills the entries that its file defines.
void install_errors(PJRT_Api& api);
void install_plugin(PJRT_Api& api);
void install_events(PJRT_Api& api);
void install_client(PJRT_Api& api);
void install_devices(PJRT_Api& api);
void install_memories(PJRT_Api& api);
void install_topology(PJRT_Api& api);
void install_buffers(PJRT_Api& api);
void install_uploads(PJRT_Api& api);
void install_downloads(PJRT_Api& api);
void install_copies(PJRT_Api& api);
void install_views(PJRT_Api& api);
void install_executables(PJRT_Api& api);
void install_loaded_executables(PJRT_Api& api);
void install_execution(PJRT_Api& api);

// Extensions; each returns its own, linked before `next`.
PJRT_Extension_Base* layouts_extension(PJRT_Extension_Base* next);
PJRT_Extension_Base* shardings_extension(PJRT_Extension_Base* next);
PJRT_Extension_Base* memory_descriptions_extension(PJRT_Extension_Base* next);
PJRT_Extension_Base* profiler_extension(PJRT_Extension_Base* next);

}  // namespace xla_xpu

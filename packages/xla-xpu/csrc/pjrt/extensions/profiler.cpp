// Profiler extension: records device work for jax.profiler.
#include <cstddef>
#include <cstring>
#include <utility>

#include "pjrt/entry.h"
#include "pjrt/extensions/xspace.h"
#include "xpu/error.h"

struct PLUGIN_Profiler_Error {
  std::string message;
};

struct PLUGIN_Profiler {
  bool recording = false;
  std::string collected;  // a serialized XSpace
};

namespace xla_xpu {
namespace {

template <auto body>
PLUGIN_Profiler_Error* profiler_entry(decltype(args_of(body))* args) noexcept {
  try {
    body(*args);
    return nullptr;
  } catch (const std::exception& e) {
    return new PLUGIN_Profiler_Error{e.what()};
  }
}

void error_destroy(PLUGIN_Profiler_Error_Destroy_Args* args) {
  delete args->error;
}

void error_message(PLUGIN_Profiler_Error_Message_Args* args) {
  give(args->error->message, args->message, args->message_size);
}

void error_code(PLUGIN_Profiler_Error_GetCode_Args& args) {
  args.code = PJRT_Error_Code_INTERNAL;
}

void create(PLUGIN_Profiler_Create_Args& args) {
  args.profiler = new PLUGIN_Profiler;
}

void destroy(PLUGIN_Profiler_Destroy_Args& args) {
  delete args.profiler;
}

void start(PLUGIN_Profiler_Start_Args& args) {
  xpu::expect<xpu::UsageError>(!xpu::trace::active(),
                               "jax.profiler: the xpu runtime is already recording a trace; stop it first");
  xpu::trace::start();
  args.profiler->recording = true;
}

void stop(PLUGIN_Profiler_Stop_Args& args) {
  if (!std::exchange(args.profiler->recording, false)) return;
  args.profiler->collected = xspace_of(xpu::trace::stop());
}

// Returns our buffer if the caller has none. Older callers ask for the size first, then pass a buffer.
void collect(PLUGIN_Profiler_CollectData_Args& args) {
  auto& collected = args.profiler->collected;
  if (args.buffer)
    std::memcpy(args.buffer, collected.data(), collected.size());
  else
    args.buffer = reinterpret_cast<std::uint8_t*>(collected.data());
  args.buffer_size_in_bytes = collected.size();
}

PLUGIN_Profiler_Api profiler_api = {
    // The members from here on are optional, because they pass C++ objects.
    .struct_size = offsetof(PLUGIN_Profiler_Api, consume),
    .priv = nullptr,
    .error_destroy = error_destroy,
    .error_message = error_message,
    .error_get_code = profiler_entry<error_code>,
    .create = profiler_entry<create>,
    .destroy = profiler_entry<destroy>,
    .start = profiler_entry<start>,
    .stop = profiler_entry<stop>,
    .collect_data = profiler_entry<collect>,
    .consume = nullptr,
    .consume_result_destroy = nullptr,
    .serialize = nullptr,
};

}  // namespace

PJRT_Extension_Base* profiler_extension(PJRT_Extension_Base* next) {
  static PJRT_Profiler_Extension extension{
      .base = {PJRT_Profiler_Extension_STRUCT_SIZE, PJRT_Extension_Type_Profiler, next},
      .profiler_api = &profiler_api,
      .traceme_context_id = 0,
  };
  return &extension.base;
}

}  // namespace xla_xpu

#include "pjrt/error.h"

#include <new>

#include "exec/executable.h"
#include "pjrt/entry.h"

namespace xla_xpu {
namespace {

struct Error : PJRT_Error {
  int code;
  std::string message;
};

const Error& of(const PJRT_Error* error) {
  return *static_cast<const Error*>(error);
}

const PJRT_Error_FunctionTable table = {
    .struct_size = PJRT_Error_FunctionTable_STRUCT_SIZE,
    .instance_size = sizeof(Error),
    .extension_start = nullptr,
    .destroy = [](PJRT_Error* error) { delete static_cast<Error*>(error); },
    .message = [](const PJRT_Error* error, const char** text,
                  std::size_t* size) { give(of(error).message, *text, *size); },
    .get_code = [](const PJRT_Error* error) { return static_cast<std::uint32_t>(of(error).code); },
    .for_each_payload = [](const PJRT_Error*, PJRT_Error_PayloadVisitor, void*) {},
};

void destroy(PJRT_Error_Destroy_Args* args) {
  if (args->error) table.destroy(args->error);
}

void message(PJRT_Error_Message_Args* args) {
  give(of(args->error).message, args->message, args->message_size);
}

void code(PJRT_Error_GetCode_Args& args) {
  args.code = static_cast<std::uint32_t>(of(args.error).code);
}

// Ours carry no payloads.
void for_each_payload(PJRT_Error_ForEachPayload_Args&) {}

}  // namespace

PJRT_Error* make_error(int code, std::string message) {
  auto* error = new Error;
  error->vtable = &table;
  error->code = code;
  error->message = std::move(message);
  return error;
}

PJRT_Error* current_error() {
  try {
    throw;
  } catch (const PjrtFailure& e) {
    return make_error(e.code, e.what());
  } catch (const CompileFailure& e) {
    return make_error(e.code, e.what());
  } catch (const xpu::OutOfMemory& e) {
    return make_error(PJRT_Error_Code_RESOURCE_EXHAUSTED, e.what());
  } catch (const xpu::UsageError& e) {
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT, e.what());
  } catch (const xpu::Unsupported& e) {
    return make_error(PJRT_Error_Code_UNIMPLEMENTED, e.what());
  } catch (const std::bad_alloc&) {
    return make_error(PJRT_Error_Code_RESOURCE_EXHAUSTED, "the host has no memory left");
  } catch (const std::exception& e) {
    return make_error(PJRT_Error_Code_INTERNAL, e.what());
  } catch (...) {
    return make_error(PJRT_Error_Code_INTERNAL, "an exception of an unknown type");
  }
}

PJRT_Error* error_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (...) {
    return current_error();
  }
}

void install_errors(PJRT_Api& api) {
  api.PJRT_Error_Destroy = destroy;
  api.PJRT_Error_Message = message;
  api.PJRT_Error_GetCode = entry<code>;
  api.PJRT_Error_ForEachPayload = entry<for_each_payload>;
}

}  // namespace xla_xpu

// Entries of PJRT_LoadedExecutable: a compiled program with its devices.
#include "pjrt/client.h"
#include "pjrt/entry.h"
#include "pjrt/loaded_program.h"

namespace xla_xpu {
namespace {

PJRT_LoadedExecutable* loaded(const PJRT_Client& client, std::shared_ptr<const Executable> executable,
                              std::string_view options) {
  return new PJRT_LoadedExecutable{
      std::make_shared<LoadedProgram>(&client, std::move(executable), std::string(options))};
}

void compile_program(PJRT_Client_Compile_Args& args) {
  std::string_view options(args.compile_options, args.compile_options_size);
  const auto& program = *args.program;
  args.executable = loaded(
      *args.client,
      compile({program.code, program.code_size}, {program.format, program.format_size}, options), options);
}

void deserialize(PJRT_Executable_DeserializeAndLoad_Args& args) {
  std::string_view options(args.overridden_serialized_compile_options,
                           args.overridden_serialized_compile_options_size);
  args.loaded_executable = loaded(
      *args.client, load({args.serialized_executable, args.serialized_executable_size}, options), options);
}

void destroy(PJRT_LoadedExecutable_Destroy_Args& args) {
  delete args.executable;
}

void executable(PJRT_LoadedExecutable_GetExecutable_Args& args) {
  args.executable = new PJRT_Executable{args.loaded_executable->program};
}

void devices(PJRT_LoadedExecutable_AddressableDevices_Args& args) {
  const auto& all = args.executable->program->devices;
  args.addressable_devices = all.data();
  args.num_addressable_devices = all.size();
}

void logical_ids(PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args& args) {
  const auto& all = args.executable->program->logical_ids;
  args.addressable_device_logical_ids = all.data();
  args.num_addressable_device_logical_ids = all.size();
}

void device_assignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args& args) {
  give(args.executable->program->device_assignment, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_device_assignment = nullptr;
  args.serialized_device_assignment_deleter = [](void*) {};
}

void erase(PJRT_LoadedExecutable_Delete_Args& args) {
  args.executable->deleted = true;
}

void is_deleted(PJRT_LoadedExecutable_IsDeleted_Args& args) {
  args.is_deleted = args.executable->deleted;
}

void fingerprint(PJRT_LoadedExecutable_Fingerprint_Args& args) {
  give(args.executable->program->executable->fingerprint, args.executable_fingerprint,
       args.executable_fingerprint_size);
}

}  // namespace

void install_loaded_executables(PJRT_Api& api) {
  api.PJRT_Client_Compile = entry<compile_program>;
  api.PJRT_Executable_DeserializeAndLoad = entry<deserialize>;
  api.PJRT_LoadedExecutable_Destroy = entry<destroy>;
  api.PJRT_LoadedExecutable_GetExecutable = entry<executable>;
  api.PJRT_LoadedExecutable_AddressableDevices = entry<devices>;
  api.PJRT_LoadedExecutable_AddressableDeviceLogicalIds = entry<logical_ids>;
  api.PJRT_LoadedExecutable_GetDeviceAssignment = entry<device_assignment>;
  api.PJRT_LoadedExecutable_Delete = entry<erase>;
  api.PJRT_LoadedExecutable_IsDeleted = entry<is_deleted>;
  api.PJRT_LoadedExecutable_Fingerprint = entry<fingerprint>;
}

}  // namespace xla_xpu

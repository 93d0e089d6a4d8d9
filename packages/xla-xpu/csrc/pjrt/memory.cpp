#include "pjrt/memory.h"

#include <utility>

#include "pjrt/client.h"
#include "pjrt/entry.h"

namespace xla_xpu {
namespace {

void* get_user_data(PJRT_Memory* memory, const void* key) {
  auto& self = memory_of(memory);
  std::lock_guard lock(self.user_data_mutex);
  auto found = self.user_data.find(key);
  return found == self.user_data.end() ? nullptr : found->second.data;
}

void set_user_data(PJRT_Memory* memory, const void* key, void* data, void (*destroy)(void*)) {
  auto& self = memory_of(memory);
  Memory::UserData previous;
  {
    std::lock_guard lock(self.user_data_mutex);
    previous = std::exchange(self.user_data[key], {data, destroy});
  }
  // Unlocked, since the caller's function may ask for user data again.
  if (previous.data && previous.destroy) previous.destroy(previous.data);
}

const PJRT_Memory_FunctionTable table = {
    .struct_size = PJRT_Memory_FunctionTable_STRUCT_SIZE,
    .extension_start = nullptr,
    .instance_struct_size = sizeof(Memory),
    .get_user_data = get_user_data,
    .set_user_data = set_user_data,
};

void id(PJRT_Memory_Id_Args& args) {
  args.id = memory_of(args.memory).id;
}

void kind(PJRT_Memory_Kind_Args& args) {
  give(name_of(memory_of(args.memory).kind), args.kind, args.kind_size);
}

void kind_id(PJRT_Memory_Kind_Id_Args& args) {
  args.kind_id = static_cast<int>(memory_of(args.memory).kind);
}

void debug_string(PJRT_Memory_DebugString_Args& args) {
  give(memory_of(args.memory).debug_string, args.debug_string, args.debug_string_size);
}

void to_string(PJRT_Memory_ToString_Args& args) {
  give(memory_of(args.memory).to_string, args.to_string, args.to_string_size);
}

void addressable_by(PJRT_Memory_AddressableByDevices_Args& args) {
  args.devices = &memory_of(args.memory).device;
  args.num_devices = 1;
}

}  // namespace

const std::string& name_of(MemoryKind kind) {
  static const std::string names[] = {"device", "pinned_host", "unpinned_host"};
  return names[static_cast<int>(kind)];
}

// Ids are unique over all devices: each device has a range of them, one for each kind.
Memory::Memory(PJRT_Device& device, MemoryKind kind)
    : id(device.id * static_cast<int>(std::size(memory_kinds)) + static_cast<int>(kind)),
      kind(kind),
      device(&device),
      debug_string(xpu::join(name_of(kind), " of xpu:", device.id)),
      to_string(xpu::join("XpuMemory(id=", id, ", kind=", name_of(kind), ")")) {
  vtable = &table;
}

Memory::~Memory() {
  for (auto& [key, value] : user_data)
    if (value.data && value.destroy) value.destroy(value.data);
}

Memory& memory_of(const PJRT_Device& device, std::string_view kind) {
  for (auto* memory : device.memories)
    if (name_of(memory_of(memory).kind) == kind) return memory_of(memory);
  fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "xpu has no memory kind \"", kind,
                 "\"; its memory kinds are device, pinned_host and unpinned_host");
}

Memory& memory_of(PJRT_Memory* memory, PJRT_Device* device, const PJRT_Client& client) {
  if (memory) return memory_of(memory);
  // A device's default memory is its first.
  return memory_of((device ? device : client.devices.front())->memories.front());
}

void install_memories(PJRT_Api& api) {
  api.PJRT_Memory_Id = entry<id>;
  api.PJRT_Memory_Kind = entry<kind>;
  api.PJRT_Memory_Kind_Id = entry<kind_id>;
  api.PJRT_Memory_DebugString = entry<debug_string>;
  api.PJRT_Memory_ToString = entry<to_string>;
  api.PJRT_Memory_AddressableByDevices = entry<addressable_by>;
}

}  // namespace xla_xpu

#include "pjrt/device.h"

#include "pjrt/entry.h"
#include "pjrt/memory.h"
#include "xpu/memory.h"

PJRT_DeviceDescription::PJRT_DeviceDescription(int id)
    : id(id), debug_string(xpu::join("xpu:", id)), to_string(xpu::join("XpuDevice(id=", id, ")")) {
  const auto& info = xpu::device_info(id < xpu::device_count() ? id : 0);
  kind = info.name;
  attributes.add("vendor", info.vendor);
  attributes.add("backend", info.backend);
  attributes.add("driver_version", info.driver_version);
  attributes.add("core_count", static_cast<std::int64_t>(info.max_compute_units));
  attributes.add("total_memory", static_cast<std::int64_t>(info.total_memory));
}

PJRT_Device::PJRT_Device(int id) : id(id), description(id), stream(xpu::default_stream(id)) {
  for (auto kind : xla_xpu::memory_kinds) memories.push_back(new xla_xpu::Memory(*this, kind));
}

PJRT_Device::~PJRT_Device() {
  for (auto* memory : memories) delete &xla_xpu::memory_of(memory);
}

namespace xla_xpu {
namespace {

void id(PJRT_DeviceDescription_Id_Args& args) {
  args.id = args.device_description->id;
}

void process_index(PJRT_DeviceDescription_ProcessIndex_Args& args) {
  args.process_index = 0;
}

void description_attributes(PJRT_DeviceDescription_Attributes_Args& args) {
  const auto& values = args.device_description->attributes.values();
  args.attributes = values.data();
  args.num_attributes = values.size();
}

void kind(PJRT_DeviceDescription_Kind_Args& args) {
  give(args.device_description->kind, args.device_kind, args.device_kind_size);
}

void debug_string(PJRT_DeviceDescription_DebugString_Args& args) {
  give(args.device_description->debug_string, args.debug_string, args.debug_string_size);
}

void to_string(PJRT_DeviceDescription_ToString_Args& args) {
  give(args.device_description->to_string, args.to_string, args.to_string_size);
}

void description(PJRT_Device_GetDescription_Args& args) {
  args.device_description = &args.device->description;
}

void is_addressable(PJRT_Device_IsAddressable_Args& args) {
  args.is_addressable = true;
}

void local_hardware_id(PJRT_Device_LocalHardwareId_Args& args) {
  args.local_hardware_id = args.device->id;
}

void addressable_memories(PJRT_Device_AddressableMemories_Args& args) {
  args.memories = args.device->memories.data();
  args.num_memories = args.device->memories.size();
}

void default_memory(PJRT_Device_DefaultMemory_Args& args) {
  args.memory = args.device->memories.front();
}

void attributes(PJRT_Device_GetAttributes_Args& args) {
  const auto& values = args.device->description.attributes.values();
  args.attributes = values.data();
  args.num_attributes = values.size();
  args.device_attributes = nullptr;
  args.attributes_deleter = [](void*) {};
}

// Counts the pool of the process, so it includes memory of other frameworks.
void memory_stats(PJRT_Device_MemoryStats_Args& args) {
  auto stats = xpu::memory::stats(args.device->id);
  const auto& bytes = stats.allocated_bytes[xpu::memory::all];
  const auto& reserved = stats.reserved_bytes[xpu::memory::all];
  std::size_t limit = xpu::memory::limit(args.device->id);
  if (!limit) limit = xpu::device_info(args.device->id).total_memory;
  args.bytes_in_use = bytes.current;
  args.peak_bytes_in_use = bytes.peak;
  args.peak_bytes_in_use_is_set = true;
  args.num_allocs = stats.allocation[xpu::memory::all].allocated;
  args.num_allocs_is_set = true;
  args.largest_alloc_size_is_set = false;
  args.bytes_limit = static_cast<std::int64_t>(limit);
  args.bytes_limit_is_set = true;
  args.bytes_reserved_is_set = false;
  args.peak_bytes_reserved_is_set = false;
  args.bytes_reservable_limit = args.bytes_limit;  // nothing is reserved
  args.bytes_reservable_limit_is_set = true;
  args.largest_free_block_bytes_is_set = false;
  args.pool_bytes = reserved.current;
  args.pool_bytes_is_set = true;
  args.peak_pool_bytes = reserved.peak;
  args.peak_pool_bytes_is_set = true;
}

void clear_memory_stats(PJRT_Device_ClearMemoryStats_Args& args) {
  xpu::memory::reset_peak_stats(args.device->id);
  xpu::memory::reset_accumulated_stats(args.device->id);
}

}  // namespace

void install_devices(PJRT_Api& api) {
  api.PJRT_DeviceDescription_Id = entry<id>;
  api.PJRT_DeviceDescription_ProcessIndex = entry<process_index>;
  api.PJRT_DeviceDescription_Attributes = entry<description_attributes>;
  api.PJRT_DeviceDescription_Kind = entry<kind>;
  api.PJRT_DeviceDescription_DebugString = entry<debug_string>;
  api.PJRT_DeviceDescription_ToString = entry<to_string>;
  api.PJRT_Device_GetDescription = entry<description>;
  api.PJRT_Device_IsAddressable = entry<is_addressable>;
  api.PJRT_Device_LocalHardwareId = entry<local_hardware_id>;
  api.PJRT_Device_AddressableMemories = entry<addressable_memories>;
  api.PJRT_Device_DefaultMemory = entry<default_memory>;
  api.PJRT_Device_GetAttributes = entry<attributes>;
  api.PJRT_Device_MemoryStats = entry<memory_stats>;
  api.PJRT_Device_ClearMemoryStats = entry<clear_memory_stats>;
}

}  // namespace xla_xpu

#include "pjrt/client.h"

#include "pjrt/entry.h"

PJRT_Client::PJRT_Client() {
  for (int i = 0; i < platform.device_count(); ++i) {
    auto& device = *owned_.emplace_back(std::make_unique<PJRT_Device>(i));
    devices.push_back(&device);
    topology.descriptions.push_back(&device.description);
    memories.insert(memories.end(), device.memories.begin(), device.memories.end());
  }
}

PJRT_Device* PJRT_Client::device(int id) const {
  if (id < 0 || id >= static_cast<int>(devices.size()))
    xla_xpu::fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "there is no xpu device ", id, "; there are ",
                            devices.size());
  return devices[id];
}

namespace xla_xpu {
namespace {

void create(PJRT_Client_Create_Args& args) {
  args.client = new PJRT_Client;
}

void destroy(PJRT_Client_Destroy_Args& args) {
  delete args.client;
}

void platform_name(PJRT_Client_PlatformName_Args& args) {
  give(args.client->platform.name(), args.platform_name, args.platform_name_size);
}

void platform_version(PJRT_Client_PlatformVersion_Args& args) {
  give(args.client->platform.version(), args.platform_version, args.platform_version_size);
}

void process_index(PJRT_Client_ProcessIndex_Args& args) {
  args.process_index = 0;
}

void devices(PJRT_Client_Devices_Args& args) {
  const auto& all = args.client->devices;
  args.devices = all.data();
  args.num_devices = all.size();
}

void addressable_devices(PJRT_Client_AddressableDevices_Args& args) {
  const auto& all = args.client->devices;
  args.addressable_devices = all.data();
  args.num_addressable_devices = all.size();
}

void addressable_memories(PJRT_Client_AddressableMemories_Args& args) {
  const auto& all = args.client->memories;
  args.addressable_memories = all.data();
  args.num_addressable_memories = all.size();
}

void lookup_device(PJRT_Client_LookupDevice_Args& args) {
  args.device = args.client->device(args.id);
}

void lookup_addressable_device(PJRT_Client_LookupAddressableDevice_Args& args) {
  args.addressable_device = args.client->device(args.local_hardware_id);
}

// Replica after replica, each over as many devices as it has partitions.
void default_device_assignment(PJRT_Client_DefaultDeviceAssignment_Args& args) {
  std::size_t wanted = static_cast<std::size_t>(args.num_replicas) * args.num_partitions;
  std::size_t count = args.client->devices.size();
  if (wanted > count)
    fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, args.num_replicas, " replicas of ", args.num_partitions,
                   " partitions need ", wanted, " xpu devices; there are ", count);
  if (args.default_assignment_size < wanted)
    fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "the assignment has room for ",
                   args.default_assignment_size, " devices of ", wanted);
  auto* assignment = static_cast<int*>(args.default_assignment);
  for (std::size_t i = 0; i < wanted; ++i) assignment[i] = static_cast<int>(i);
}

}  // namespace

void install_client(PJRT_Api& api) {
  api.PJRT_Client_Create = entry<create>;
  api.PJRT_Client_Destroy = entry<destroy>;
  api.PJRT_Client_PlatformName = entry<platform_name>;
  api.PJRT_Client_PlatformVersion = entry<platform_version>;
  api.PJRT_Client_ProcessIndex = entry<process_index>;
  api.PJRT_Client_Devices = entry<devices>;
  api.PJRT_Client_AddressableDevices = entry<addressable_devices>;
  api.PJRT_Client_AddressableMemories = entry<addressable_memories>;
  api.PJRT_Client_LookupDevice = entry<lookup_device>;
  api.PJRT_Client_LookupAddressableDevice = entry<lookup_addressable_device>;
  api.PJRT_Client_DefaultDeviceAssignment = entry<default_device_assignment>;
}

}  // namespace xla_xpu

// A client's devices as something to compile for.
#include "pjrt/client.h"
#include "pjrt/entry.h"

namespace xla_xpu {
namespace {

void of_client(PJRT_Client_TopologyDescription_Args& args) {
  args.topology = &args.client->topology;
}

// It goes with its client.
void destroy(PJRT_TopologyDescription_Destroy_Args&) {}

void platform_name(PJRT_TopologyDescription_PlatformName_Args& args) {
  give(Platform::get().name(), args.platform_name, args.platform_name_size);
}

void platform_version(PJRT_TopologyDescription_PlatformVersion_Args& args) {
  give(Platform::get().version(), args.platform_version, args.platform_version_size);
}

void descriptions(PJRT_TopologyDescription_GetDeviceDescriptions_Args& args) {
  const auto& all = args.topology->descriptions;
  args.descriptions = all.data();
  args.num_descriptions = all.size();
}

void attributes(PJRT_TopologyDescription_Attributes_Args& args) {
  args.attributes = nullptr;
  args.num_attributes = 0;
}

// The same for machines on which a program compiled here runs.
void fingerprint(PJRT_TopologyDescription_Fingerprint_Args& args) {
  std::string text = Platform::get().version();
  for (const auto* description : args.topology->descriptions) text += "\n" + description->kind;
  std::uint64_t hash = 14695981039346656037u;
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  args.fingerprint = hash;
}

}  // namespace

void install_topology(PJRT_Api& api) {
  api.PJRT_Client_TopologyDescription = entry<of_client>;
  api.PJRT_TopologyDescription_Destroy = entry<destroy>;
  api.PJRT_TopologyDescription_PlatformName = entry<platform_name>;
  api.PJRT_TopologyDescription_PlatformVersion = entry<platform_version>;
  api.PJRT_TopologyDescription_GetDeviceDescriptions = entry<descriptions>;
  api.PJRT_TopologyDescription_Attributes = entry<attributes>;
  api.PJRT_TopologyDescription_Fingerprint = entry<fingerprint>;
}

}  // namespace xla_xpu

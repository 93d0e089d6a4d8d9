#include "pjrt/topology.h"

#include <algorithm>
#include <charconv>

#include "pjrt/client.h"
#include "pjrt/entry.h"
#include "pjrt/loaded_program.h"

namespace xla_xpu {

std::unique_ptr<PJRT_TopologyDescription> topology_of(std::string_view name) {
  constexpr int max_devices = 4096;
  int local_count = Platform::get().device_count(), count = local_count;
  const auto& platform = Platform::get().name();
  if (!name.empty() && name != platform) {
    bool counts = name.starts_with(platform + ":");
    const char *begin = name.data() + std::min(name.size(), platform.size() + 1),
               *end = name.data() + name.size();
    auto [at, error] = std::from_chars(begin, end, count);
    if (!counts || error != std::errc() || at != end || count < 1 || count > max_devices)
      fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "there is no topology \"", name,
                     "\" of xpu; \"\" is the ", local_count, local_count == 1 ? " device" : " devices",
                     " of this machine, \"xpu:8\" is eight devices like its first one");
  }
  auto topology = std::make_unique<PJRT_TopologyDescription>();
  for (int id = 0; id < count; ++id) {
    topology->owned.push_back(std::make_unique<PJRT_DeviceDescription>(id));
    topology->descriptions.push_back(topology->owned.back().get());
  }
  return topology;
}

namespace {

// Equal for machines that can run each other's compiled programs.
std::uint64_t fingerprint_of(const PJRT_TopologyDescription& topology) {
  std::string text = Platform::get().version();
  for (const auto* description : topology.descriptions) text += "\n" + description->kind;
  std::uint64_t hash = 14695981039346656037u;
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  return hash;
}

void create(PJRT_TopologyDescription_Create_Args& args) {
  if (args.num_options)
    fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "a topology of xpu has no option \"",
                   std::string_view(args.create_options->name, args.create_options->name_size), "\"");
  args.topology =
      topology_of({static_cast<const char*>(args.topology_name), args.topology_name_size}).release();
}

void of_client(PJRT_Client_TopologyDescription_Args& args) {
  args.topology = &args.client->topology;
}

void destroy(PJRT_TopologyDescription_Destroy_Args& args) {
  if (args.topology && !args.topology->owned.empty()) delete args.topology;
}

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

void fingerprint(PJRT_TopologyDescription_Fingerprint_Args& args) {
  args.fingerprint = fingerprint_of(*args.topology);
}

std::string text_of(const PJRT_TopologyDescription& topology) {
  return xpu::join(Platform::get().name(), ":", topology.descriptions.size(), " ", fingerprint_of(topology));
}

void serialize(PJRT_TopologyDescription_Serialize_Args& args) {
  auto* text = new std::string(text_of(*args.topology));
  give(*text, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_topology = text;
  args.serialized_topology_deleter =
      reinterpret_cast<void*>(+[](void* text) { delete static_cast<std::string*>(text); });
}

void deserialize(PJRT_TopologyDescription_Deserialize_Args& args) {
  std::string_view text(static_cast<const char*>(args.serialized_topology), args.serialized_topology_size);
  auto topology = topology_of(text.substr(0, text.find(' ')));
  if (text != text_of(*topology))
    fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT,
                   "the topology was saved for other devices or drivers than those of this machine");
  args.topology = topology.release();
}

// Compiles for devices that need not exist here. PJRT_Executable_DeserializeAndLoad loads the result.
void compile_ahead(PJRT_Compile_Args& args) {
  // A client holds the GIL here, and waits for this thread. See xla_xpu/_patches.py.
  if (args.client)
    fail_with_code(
        PJRT_Error_Code_UNIMPLEMENTED,
        "programs for a topology of xpu are compiled by its own client, not by that of other devices");
  std::string_view options(static_cast<const char*>(args.compile_options), args.compile_options_size);
  const auto& program = *args.program;
  auto executable =
      compile({program.code, program.code_size}, {program.format, program.format_size}, options);
  auto count = static_cast<int>(args.topology->descriptions.size());
  for (int device : executable->devices)
    if (device < 0 || device >= count)
      fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "the program is for device ", device,
                     " of a topology of ", count);
  args.executable = new PJRT_Executable{
      std::make_shared<LoadedProgram>(nullptr, std::move(executable), std::string(options))};
}

}  // namespace

void install_topology(PJRT_Api& api) {
  api.PJRT_TopologyDescription_Create = entry<create>;
  api.PJRT_Client_TopologyDescription = entry<of_client>;
  api.PJRT_TopologyDescription_Destroy = entry<destroy>;
  api.PJRT_TopologyDescription_PlatformName = entry<platform_name>;
  api.PJRT_TopologyDescription_PlatformVersion = entry<platform_version>;
  api.PJRT_TopologyDescription_GetDeviceDescriptions = entry<descriptions>;
  api.PJRT_TopologyDescription_Attributes = entry<attributes>;
  api.PJRT_TopologyDescription_Fingerprint = entry<fingerprint>;
  api.PJRT_TopologyDescription_Serialize = entry<serialize>;
  api.PJRT_TopologyDescription_Deserialize = entry<deserialize>;
  api.PJRT_Compile = entry<compile_ahead>;
}

}  // namespace xla_xpu

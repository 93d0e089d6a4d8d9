#include "pjrt/loaded_program.h"

#include <algorithm>

#include "pjrt/error.h"
#include "pjrt/extensions/protobuf.h"
#include "pjrt/memory.h"

namespace xla_xpu {
namespace {

// replica_count = 1, computation_count = 2, computation_devices = 3 {replica_device_ids = 1}
std::string assignment_of(const Executable& executable) {
  ProtoWriter out;
  out.number(1, executable.replicas).number(2, executable.partitions);
  for (int partition = 0; partition < executable.partitions; ++partition) {
    ProtoWriter ids;
    for (int replica = 0; replica < executable.replicas; ++replica)
      ids.varint(executable.devices[replica * executable.partitions + partition]);
    out.bytes(3, ProtoWriter().bytes(1, ids.text()).text());
  }
  return out.text();
}

StringArrays kinds_of(const std::vector<Value>& values) {
  StringArrays arrays;
  for (const auto& value : values) arrays.add(value.memory_kind);
  return arrays;
}

StringArrays shardings_of(const std::vector<Value>& values) {
  StringArrays arrays;
  if (std::any_of(values.begin(), values.end(), [](const Value& v) { return !v.sharding.empty(); }))
    for (const auto& value : values) arrays.add(value.sharding);
  return arrays;
}

}  // namespace

LoadedProgram::LoadedProgram(const PJRT_Client* client, std::shared_ptr<const Executable> compiled,
                             std::string compile_options)
    : executable(std::move(compiled)),
      options(std::move(compile_options)),
      donated(executable->parameters.size()),
      overwritten(executable->parameters.size()),
      output_aliases(executable->outputs.size(), -1) {
  const auto& e = *executable;
  if (e.replicas < 1 || e.partitions < 1 ||
      e.devices.size() != static_cast<std::size_t>(e.replicas) * e.partitions)
    fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "the program has ", e.devices.size(), " devices for ",
                   e.replicas, " replicas of ", e.partitions, " partitions");
  for (std::size_t i = 0; i < e.devices.size(); ++i) {
    if (client) devices.push_back(client->device(e.devices[i]));
    int n = static_cast<int>(i);
    logical_ids.push_back({n / e.partitions, n % e.partitions});
  }
  for (const auto& output : e.outputs) {
    output_types.push_back(static_cast<std::uint32_t>(output.type));
    output_dims.insert(output_dims.end(), output.dims.begin(), output.dims.end());
    output_ranks.push_back(output.dims.size());
  }
  if (client)
    for (const auto* values : {&e.parameters, &e.outputs})
      for (const auto& value : *values) memory_of(*devices.front(), value.memory_kind);
  parameter_kinds = kinds_of(e.parameters);
  output_kinds = kinds_of(e.outputs);
  parameter_shardings = shardings_of(e.parameters);
  output_shardings = shardings_of(e.outputs);
  for (const auto& [name, value] : e.cost) cost.add(name, static_cast<float>(value));
  device_assignment = assignment_of(e);
  for (int i : e.donated) donated.at(i) = true;
  for (auto [output, parameter] : e.output_aliases) {
    overwritten.at(parameter) = true;
    output_aliases.at(output) = parameter;
  }
}

}  // namespace xla_xpu

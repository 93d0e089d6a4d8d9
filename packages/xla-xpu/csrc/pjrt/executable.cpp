// Entries of PJRT_Executable: properties of a compiled program.
#include <cstring>

#include "pjrt/entry.h"
#include "pjrt/loaded_program.h"

namespace xla_xpu {
namespace {

template <class Args>
const Executable& of(const Args& args) {
  return *args.executable->program->executable;
}

void destroy(PJRT_Executable_Destroy_Args& args) {
  delete args.executable;
}

void name(PJRT_Executable_Name_Args& args) {
  give(of(args).name, args.executable_name, args.executable_name_size);
}

void replicas(PJRT_Executable_NumReplicas_Args& args) {
  args.num_replicas = of(args).replicas;
}

void partitions(PJRT_Executable_NumPartitions_Args& args) {
  args.num_partitions = of(args).partitions;
}

void outputs(PJRT_Executable_NumOutputs_Args& args) {
  args.num_outputs = of(args).outputs.size();
}

void code_bytes(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args& args) {
  args.size_in_bytes = static_cast<std::int64_t>(of(args).code_bytes);
}

void fingerprint(PJRT_Executable_Fingerprint_Args& args) {
  give(of(args).fingerprint, args.executable_fingerprint, args.executable_fingerprint_size);
}

void output_types(PJRT_Executable_OutputElementTypes_Args& args) {
  const auto& types = args.executable->program->output_types;
  args.output_types = types.data();
  args.num_output_types = types.size();
}

void output_dimensions(PJRT_Executable_OutputDimensions_Args& args) {
  const auto& program = *args.executable->program;
  args.num_outputs = program.output_ranks.size();
  args.dims = program.output_dims.data();
  args.dim_sizes = program.output_ranks.data();
}

void output_kinds(PJRT_Executable_OutputMemoryKinds_Args& args) {
  const auto& kinds = args.executable->program->output_kinds;
  args.num_outputs = kinds.begins.size();
  args.memory_kinds = kinds.begins.data();
  args.memory_kind_sizes = kinds.sizes.data();
}

void parameter_kinds(PJRT_Executable_ParameterMemoryKinds_Args& args) {
  const auto& kinds = args.executable->program->parameter_kinds;
  args.num_parameters = kinds.begins.size();
  args.memory_kinds = kinds.begins.data();
  args.memory_kind_sizes = kinds.sizes.data();
}

void serialize(PJRT_Executable_Serialize_Args& args) {
  if (of(args).serialized.empty())
    fail_with_code(PJRT_Error_Code_UNIMPLEMENTED, of(args).name,
                   " calls Python functions of this process, so it cannot be serialized");
  // Keeps the serialized bytes alive until the caller drops them.
  auto* owner = new std::shared_ptr<const Executable>(args.executable->program->executable);
  give((*owner)->serialized, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable = owner;
  args.serialized_executable_deleter = [](void* owner) {
    delete static_cast<std::shared_ptr<const Executable>*>(owner);
  };
}

void optimized_program(PJRT_Executable_OptimizedProgram_Args& args) {
  static const std::string format = "mlir";
  const auto& text = of(args).text;
  auto& program = *args.program;
  give(format, program.format, program.format_size);
  if (program.code) {
    if (program.code_size < text.size())
      fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "the program's text has ", text.size(),
                     " bytes, the destination ", program.code_size);
    std::memcpy(const_cast<char*>(program.code), text.data(), text.size());
  }
  program.code_size = text.size();
}

std::int64_t bytes_of(const std::vector<Value>& values) {
  std::size_t bytes = 0;
  for (const auto& value : values) bytes += value.bytes();
  return static_cast<std::int64_t>(bytes);
}

// Sets the field only if the caller's struct has it: an older interface has fewer fields.
template <class Args, class Field>
void set(Args& args, Field Args::*field, std::int64_t value) {
  auto offset = reinterpret_cast<char*>(&(args.*field)) - reinterpret_cast<char*>(&args);
  if (args.struct_size >= offset + sizeof(Field)) args.*field = static_cast<Field>(value);
}

void memory_stats(PJRT_Executable_GetCompiledMemoryStats_Args& args) {
  using Args = PJRT_Executable_GetCompiledMemoryStats_Args;
  const auto& e = of(args);
  auto code = static_cast<std::int64_t>(e.code_bytes),
       temporary = static_cast<std::int64_t>(e.temporary_bytes);
  auto in = bytes_of(e.parameters), out = bytes_of(e.outputs), alias_bytes = std::int64_t{0};
  for (auto [output, parameter] : e.output_aliases)
    alias_bytes += static_cast<std::int64_t>(e.outputs[output].bytes());
  auto whole = in + out - alias_bytes + temporary;
  args.generated_code_size_in_bytes = code;
  args.argument_size_in_bytes = in;
  args.output_size_in_bytes = out;
  args.alias_size_in_bytes = alias_bytes;
  args.temp_size_in_bytes = temporary;
  args.host_generated_code_size_in_bytes = 0;
  args.host_argument_size_in_bytes = 0;
  args.host_output_size_in_bytes = 0;
  args.host_alias_size_in_bytes = 0;
  args.host_temp_size_in_bytes = 0;
  set(args, &Args::peak_memory_in_bytes, whole);
  set(args, &Args::total_size_in_bytes, whole + code);
  set(args, &Args::total_allocation_bytes, whole);
  set(args, &Args::indefinite_allocations, 0);
  set(args, &Args::peak_unpadded_heap_bytes, whole);
}

void cost_analysis(PJRT_Executable_GetCostAnalysis_Args& args) {
  const auto& values = args.executable->program->cost.values();
  args.num_properties = values.size();
  args.properties = values.data();
}

}  // namespace

void install_executables(PJRT_Api& api) {
  api.PJRT_Executable_Destroy = entry<destroy>;
  api.PJRT_Executable_Name = entry<name>;
  api.PJRT_Executable_NumReplicas = entry<replicas>;
  api.PJRT_Executable_NumPartitions = entry<partitions>;
  api.PJRT_Executable_NumOutputs = entry<outputs>;
  api.PJRT_Executable_SizeOfGeneratedCodeInBytes = entry<code_bytes>;
  api.PJRT_Executable_Fingerprint = entry<fingerprint>;
  api.PJRT_Executable_OutputElementTypes = entry<output_types>;
  api.PJRT_Executable_OutputDimensions = entry<output_dimensions>;
  api.PJRT_Executable_OutputMemoryKinds = entry<output_kinds>;
  api.PJRT_Executable_ParameterMemoryKinds = entry<parameter_kinds>;
  api.PJRT_Executable_Serialize = entry<serialize>;
  api.PJRT_Executable_OptimizedProgram = entry<optimized_program>;
  api.PJRT_Executable_GetCompiledMemoryStats = entry<memory_stats>;
  api.PJRT_Executable_GetCostAnalysis = entry<cost_analysis>;
}

}  // namespace xla_xpu

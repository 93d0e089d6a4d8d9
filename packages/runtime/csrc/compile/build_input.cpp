#include "compile/build_input.h"

#include "compile/cpu_features.h"
#include "compile/dump.h"
#include "compile/program/backend.h"
#include "compile/source/flatten.h"
#include "compile/source/signature_probes.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/process.h"

namespace xpu {
namespace {

// Makes signed integers wrap on overflow on every device; a compiler may otherwise compute in wider ones.
constexpr const char* wrapping = "-fwrapv";

constexpr std::string_view lead = "#define XPU_SUB_GROUP ";

std::string expanded_source(std::string_view source, int sub_group_size, int vector_bytes) {
  auto text = flatten(source);
  auto macros = join(lead, sub_group_size, "\n");
  if (vector_bytes && text.find("XPU_CPU_VECTOR") != text.npos)
    macros += join("#define XPU_CPU_VECTOR ", vector_bytes, "\n");
  if (images_tell_signatures()) return macros + text;
  return macros + "#define XPU_TELL_SIGNATURES 1\n" + add_signature_probes(text);
}

}  // namespace

BuildInput source_input(int device, std::string_view source, int sub_group_size,
                        const std::vector<std::string>& options, int vector_bytes) {
  BuildInput input{device, expanded_source(source, sub_group_size, vector_bytes), {wrapping}, {}};
  input.options.insert(input.options.end(), options.begin(), options.end());
  return input;
}

bool is_expanded(std::string_view source) {
  return source.starts_with(lead);
}

BuildInput spirv_input(int device, Bytes spirv) {
  return {device, "", {}, std::move(spirv)};
}

int cpu_vector_bytes(int device) {
  // Assembly is for this machine only, and dumps are built for others too.
  bool here = device_info(device).type == "cpu" && !generic_backend() && dump_folder().empty();
  return here ? machine_vector_bytes() : 0;
}

}  // namespace xpu

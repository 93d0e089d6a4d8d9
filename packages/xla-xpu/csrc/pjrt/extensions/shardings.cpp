// Shardings extension: how parameters and outputs are divided over the devices of a program.
#include "pjrt/entry.h"
#include "pjrt/loaded_program.h"

namespace xla_xpu {
namespace {

void of_parameters(PJRT_Shardings_PJRT_Executable_ParameterShardings_Args& args) {
  const auto& program = *args.executable->program;
  const auto& texts = program.parameter_shardings;
  args.num_parameters = program.executable->parameters.size();
  args.shardings = texts.begins.empty() ? nullptr : texts.begins.data();
  args.sharding_sizes = texts.sizes.empty() ? nullptr : texts.sizes.data();
}

void of_outputs(PJRT_Shardings_PJRT_Executable_OutputShardings_Args& args) {
  const auto& program = *args.executable->program;
  const auto& texts = program.output_shardings;
  args.num_outputs = program.executable->outputs.size();
  args.shardings = texts.begins.empty() ? nullptr : texts.begins.data();
  args.sharding_sizes = texts.sizes.empty() ? nullptr : texts.sizes.data();
}

}  // namespace

PJRT_Extension_Base* shardings_extension(PJRT_Extension_Base* next) {
  static PJRT_Shardings_Extension extension{
      .base = {PJRT_Shardings_Extension_STRUCT_SIZE, PJRT_Extension_Type_Shardings, next},
      .PJRT_Shardings_PJRT_Executable_ParameterShardings = entry<of_parameters>,
      .PJRT_Shardings_PJRT_Executable_OutputShardings = entry<of_outputs>,
  };
  return &extension.base;
}

}  // namespace xla_xpu

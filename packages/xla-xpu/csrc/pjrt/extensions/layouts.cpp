// Layouts extension: every array is contiguous, by default with its last dimension fastest.
#include "pjrt/buffer.h"
#include "pjrt/entry.h"
#include "pjrt/layout.h"
#include "pjrt/loaded_program.h"

struct PJRT_Layouts_MemoryLayout {
  std::string text;
};

namespace xla_xpu {
namespace {

PJRT_Layouts_MemoryLayout* make_layout(const MinorToMajor& order, std::size_t rank) {
  return new PJRT_Layouts_MemoryLayout{layout_text(order, rank)};
}

void destroy(PJRT_Layouts_MemoryLayout_Destroy_Args& args) {
  delete args.layout;
}

void serialize(PJRT_Layouts_MemoryLayout_Serialize_Args& args) {
  give(args.layout->text, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_layout = nullptr;
  args.serialized_layout_deleter = [](void*) {};
}

void of_client(PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args& args) {
  args.layout = make_layout({}, args.num_dims);
}

void of_topology(PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args& args) {
  args.layout = make_layout({}, args.num_dims);
}

void of_buffer(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args& args) {
  args.layout = make_layout(args.buffer->order, args.buffer->dims.size());
}

// The caller owns each layout, but not the list. It reads the list at once, so one list per thread suffices.
PJRT_Layouts_MemoryLayout** of_values(const std::vector<Value>& values) {
  thread_local std::vector<PJRT_Layouts_MemoryLayout*> layouts;
  layouts.clear();
  for (const auto& value : values) layouts.push_back(make_layout(value.order, value.dims.size()));
  return layouts.data();
}

void of_outputs(PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args& args) {
  const auto& outputs = args.executable->program->executable->outputs;
  args.num_outputs = outputs.size();
  args.layouts = of_values(outputs);
}

void of_parameters(PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args& args) {
  const auto& parameters = args.executable->program->executable->parameters;
  args.num_parameters = parameters.size();
  args.layouts = of_values(parameters);
}

}  // namespace

PJRT_Extension_Base* layouts_extension(PJRT_Extension_Base* next) {
  static PJRT_Layouts_Extension extension{
      .base = {PJRT_Layouts_Extension_STRUCT_SIZE, PJRT_Extension_Type_Layouts, next},
      .PJRT_Layouts_MemoryLayout_Destroy = entry<destroy>,
      .PJRT_Layouts_MemoryLayout_Serialize = entry<serialize>,
      .PJRT_Layouts_PJRT_Client_GetDefaultLayout = entry<of_client>,
      .PJRT_Layouts_PJRT_Buffer_MemoryLayout = entry<of_buffer>,
      .PJRT_Layouts_PJRT_Topology_GetDefaultLayout = entry<of_topology>,
      .PJRT_Layouts_PJRT_Executable_GetOutputLayouts = entry<of_outputs>,
      .PJRT_Layouts_PJRT_Executable_GetParameterLayouts = entry<of_parameters>,
  };
  return &extension.base;
}

}  // namespace xla_xpu

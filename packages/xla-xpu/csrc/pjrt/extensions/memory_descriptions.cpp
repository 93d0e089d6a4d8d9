// Memory descriptions extension: the memory kinds of a device, without a client.
#include "pjrt/entry.h"
#include "pjrt/memory.h"

namespace xla_xpu {
namespace {

// A description is a pointer into memory_kinds.
const void* const* kinds() {
  static const void* const all[] = {&memory_kinds[0], &memory_kinds[1], &memory_kinds[2]};
  return all;
}

void descriptions(PJRT_DeviceDescription_MemoryDescriptions_Args& args) {
  args.memory_descriptions = kinds();
  args.num_memory_descriptions = std::size(memory_kinds);
  args.default_memory_index = 0;
}

void kind(PJRT_MemoryDescription_Kind_Args& args) {
  auto which = *static_cast<const MemoryKind*>(args.memory_description);
  give(name_of(which), args.kind, args.kind_size);
  args.kind_id = static_cast<int>(which);
}

}  // namespace

PJRT_Extension_Base* memory_descriptions_extension(PJRT_Extension_Base* next) {
  static PJRT_MemoryDescriptions_Extension extension{
      .base = {PJRT_MemoryDescriptions_Extension_STRUCT_SIZE, PJRT_Extension_Type_MemoryDescriptions, next},
      .PJRT_DeviceDescription_MemoryDescriptions = entry<descriptions>,
      .PJRT_MemoryDescription_Kind = entry<kind>,
  };
  return &extension.base;
}

}  // namespace xla_xpu

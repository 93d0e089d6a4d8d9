// A kind of memory of a device.
#pragma once

#include <pjrt_c_api.h>

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "pjrt/device.h"

namespace xla_xpu {

enum class MemoryKind { device, pinned_host, unpinned_host };
constexpr MemoryKind memory_kinds[] = {MemoryKind::device, MemoryKind::pinned_host,
                                       MemoryKind::unpinned_host};
const std::string& name_of(MemoryKind kind);

/// Lives as long as its device.
struct Memory : PJRT_Memory {
  Memory(PJRT_Device& device, MemoryKind kind);
  ~Memory();

  bool on_host() const { return kind != MemoryKind::device; }

  int id;
  MemoryKind kind;
  PJRT_Device* device;
  std::string debug_string, to_string;

  /// What users of the interface keep with a memory, by a key of theirs.
  struct UserData {
    void* data = nullptr;
    void (*destroy)(void*) = nullptr;
  };
  std::mutex user_data_mutex;
  std::map<const void*, UserData> user_data;
};

inline Memory& memory_of(PJRT_Memory* memory) {
  return *static_cast<Memory*>(memory);
}
/// The device's memory of this kind; throws for a kind there is none of.
Memory& memory_of(const PJRT_Device& device, std::string_view kind);
/// The one that is given, as arguments have them: a memory, or a device whose default memory is meant, or
/// neither.
Memory& memory_of(PJRT_Memory* memory, PJRT_Device* device, const PJRT_Client& client);

}  // namespace xla_xpu

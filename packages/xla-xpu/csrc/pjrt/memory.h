// PJRT_Memory: one memory kind of a device.
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

/// Owned by its device.
struct Memory : PJRT_Memory {
  Memory(PJRT_Device& device, MemoryKind kind);
  ~Memory();

  bool on_host() const { return kind != MemoryKind::device; }

  int id;
  MemoryKind kind;
  PJRT_Device* device;
  std::string debug_string, to_string;

  /// Data that callers attach to a memory, by a key of their own.
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
/// Returns the device's memory of this kind. Throws PjrtFailure for an unknown kind.
Memory& memory_of(const PJRT_Device& device, std::string_view kind);
/// Returns `memory`, or the default memory of `device`, or that of the first device if both are null.
Memory& memory_of(PJRT_Memory* memory, PJRT_Device* device, const PJRT_Client& client);

}  // namespace xla_xpu

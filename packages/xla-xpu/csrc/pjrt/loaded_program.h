// A compiled program and its properties, in the arrays that the C interface returns.
#pragma once

#include <pjrt_c_api.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "exec/executable.h"
#include "pjrt/client.h"
#include "pjrt/named_values.h"

namespace xla_xpu {

/// Strings as two arrays: pointers and sizes.
struct StringArrays {
  void add(const std::string& text) {
    begins.push_back(text.data());
    sizes.push_back(text.size());
  }
  std::vector<const char*> begins;
  std::vector<std::size_t> sizes;
};

/// Immutable; shared by all handles of one executable.
struct LoadedProgram {
  /// Throws PjrtFailure if the executable needs a device or memory kind that does not exist. If `client` is
  /// null, the program has no devices and cannot run.
  LoadedProgram(const PJRT_Client* client, std::shared_ptr<const Executable> executable, std::string options);

  std::shared_ptr<const Executable> executable;
  std::string options;  ///< the serialized CompileOptionsProto
  std::vector<std::uint32_t> output_types;
  std::vector<std::int64_t> output_dims;  ///< of all outputs, one after the other
  std::vector<std::size_t> output_ranks;
  StringArrays parameter_kinds, output_kinds;
  StringArrays parameter_shardings, output_shardings;  ///< empty when the program has none
  NamedValues cost;
  std::vector<PJRT_Device*> devices;
  std::vector<PJRT_LogicalDeviceIds> logical_ids;
  std::string device_assignment;    ///< a serialized xla.DeviceAssignmentProto
  std::vector<bool> donated;        ///< by parameter
  std::vector<bool> overwritten;    ///< by parameter: an output uses its memory
  std::vector<int> output_aliases;  ///< by output: the parameter whose memory it uses, or -1
};

}  // namespace xla_xpu

struct PJRT_Executable {
  std::shared_ptr<const xla_xpu::LoadedProgram> program;
};

struct PJRT_LoadedExecutable {
  std::shared_ptr<const xla_xpu::LoadedProgram> program;
  std::atomic<bool> deleted = false;
};

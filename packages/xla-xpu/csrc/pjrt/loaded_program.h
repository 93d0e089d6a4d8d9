// An executable with all that JAX asks about it, laid out as the C interface takes it.
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

/// Strings as two arrays, of where they begin and of their sizes.
struct Texts {
  void add(const std::string& text) {
    begins.push_back(text.data());
    sizes.push_back(text.size());
  }
  std::vector<const char*> begins;
  std::vector<std::size_t> sizes;
};

/// Immutable, and shared by the handles of one executable.
struct LoadedProgram {
  /// Throws when the executable asks for devices or memories that are not there. Without a client it is
  /// loaded nowhere, and has no devices.
  LoadedProgram(const PJRT_Client* client, std::shared_ptr<const Executable> executable, std::string options);

  std::shared_ptr<const Executable> executable;
  std::string options;  ///< the serialized CompileOptionsProto
  std::vector<std::uint32_t> output_types;
  std::vector<std::int64_t> output_dims;  ///< of all outputs, one after the other
  std::vector<std::size_t> output_ranks;
  Texts parameter_kinds, output_kinds;
  Texts parameter_shardings, output_shardings;  ///< empty when the program has none
  NamedValues cost;
  std::vector<PJRT_Device*> devices;
  std::vector<PJRT_LogicalDeviceIds> logical_ids;
  std::string device_assignment;  ///< a serialized xla.DeviceAssignmentProto
  std::vector<bool> donated;      ///< by parameter
  std::vector<bool> written;      ///< by parameter: an output is made in its memory
  std::vector<int> reused;        ///< by output: the parameter in whose memory it is made, or -1
};

}  // namespace xla_xpu

struct PJRT_Executable {
  std::shared_ptr<const xla_xpu::LoadedProgram> program;
};

struct PJRT_LoadedExecutable {
  std::shared_ptr<const xla_xpu::LoadedProgram> program;
  std::atomic<bool> deleted = false;
};

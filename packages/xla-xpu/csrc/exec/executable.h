// A compiled program and its properties. Created by Python, immutable afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "xpu/stream.h"

namespace xla_xpu {

class Program;

/// A parameter or an output of a program.
struct Value {
  int type = 0;  ///< the number of PJRT_Buffer_Type
  std::vector<std::int64_t> dims;
  std::string memory_kind = "device";
  std::string sharding = {};  ///< serialized xla.OpSharding; empty: none
  std::vector<std::int64_t> order =
      {};  ///< dimensions from the fastest to the slowest; empty: the last is fastest

  std::size_t bytes() const;
};

/// One device's part of a run.
struct Call {
  xpu::Stream stream;
  std::span<void*const> parameters, outputs;
};

struct Executable {
  std::string name, fingerprint;
  std::string serialized;  ///< argument of load(); empty if the program calls functions of this process
  std::string text;        ///< StableHLO after optimization, PJRT's format "mlir"
  std::vector<Value> parameters, outputs;
  std::vector<int> donated;                         ///< parameters whose memory the caller gives up
  std::vector<std::pair<int, int>> output_aliases;  ///< {output, parameter whose memory it uses}
  int replicas = 1, partitions = 1;
  std::vector<int> devices;            ///< ids, [replica][partition]
  std::map<std::string, double> cost;  ///< "flops", "bytes accessed"
  std::size_t temporary_bytes = 0, code_bytes = 0;
  std::shared_ptr<const Program> program;

  /// Enqueues the program on the stream of each call; `calls` has one entry per device. Takes the GIL only if
  /// the program calls Python. Blocks only for loops and branches on device data, and for host calls.
  void run(std::span<const Call> calls) const;
};

/// `code` is the number of a PJRT_Error_Code.
struct CompileFailure : std::runtime_error {
  CompileFailure(int code, const std::string& message) : std::runtime_error(message), code(code) {}
  int code;
};

/// Calls xla_xpu.compiler; takes the GIL itself, as load() does. Blocks until the kernels are built. Throws
/// CompileFailure.
std::shared_ptr<const Executable> compile(std::string_view program, std::string_view format,
                                          std::string_view options);
/// `options` replaces the compile options of the program, unless it is empty.
std::shared_ptr<const Executable> load(std::string_view serialized, std::string_view options);

}  // namespace xla_xpu

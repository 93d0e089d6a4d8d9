// A compiled program with all that is to be known about it. Immutable once made; made by Python.
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

/// An array as a program takes or gives it.
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
  std::string serialized;  ///< what load() takes; empty: the program calls functions of this process
  std::string text;        ///< StableHLO after optimisation, PJRT's format "mlir"
  std::vector<Value> parameters, outputs;
  std::vector<int> donated;                 ///< parameters that are given away
  std::vector<std::pair<int, int>> reused;  ///< an output, and the parameter in whose memory it is made
  int replicas = 1, partitions = 1;
  std::vector<int> devices;            ///< ids, [replica][partition]
  std::map<std::string, double> cost;  ///< "flops", "bytes accessed"
  std::size_t temporary_bytes = 0, code_bytes = 0;
  std::shared_ptr<const Program> program;

  /// Queues the program on the streams of all its devices, or of one that stands in for its only one. Never
  /// takes the GIL, unless the program calls Python.
  void run(std::span<const Call> calls) const;
};

/// `code` is the number of a PJRT_Error_Code.
struct CompileFailure : std::runtime_error {
  CompileFailure(int code, const std::string& message) : std::runtime_error(message), code(code) {}
  int code;
};

/// Both take the GIL themselves and call xla_xpu.compiler.
std::shared_ptr<const Executable> compile(std::string_view program, std::string_view format,
                                          std::string_view options);
/// `options`: what replaces the program's own compile options; may be empty.
std::shared_ptr<const Executable> load(std::string_view serialized, std::string_view options);

}  // namespace xla_xpu

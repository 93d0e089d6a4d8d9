// A compiled program: what the plugin tells JAX about it, and how it is queued.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "xpu/stream.h"

namespace xla_xpu {

/// An array as a program takes or gives it.
struct Value {
  int type = 0;  ///< the number of a PJRT_Buffer_Type
  std::vector<std::int64_t> dims;
  std::string memory_kind = "device";
  std::string sharding;  ///< a serialized xla.OpSharding; empty: none
  std::size_t bytes() const;
};

/// Immutable once made.
struct Executable {
  std::string name, fingerprint;
  std::string serialized;  ///< what load() takes
  std::string text;        ///< StableHLO after optimisation
  std::vector<Value> parameters, outputs;
  std::vector<int> donated;  ///< parameters that are given away
  int replicas = 1, partitions = 1;
  std::vector<int> devices;            ///< device ids, [replica][partition]
  std::map<std::string, double> cost;  ///< "flops", "bytes accessed", ...
  std::size_t temporary_bytes = 0, code_bytes = 0;

  /// Queues the program on one device's stream; never takes the GIL. The pointers are device memory.
  void run(xpu::Stream stream, std::span<void* const> parameters, std::span<void* const> outputs) const;
};

/// Why a program was refused. `code` is the number of a PJRT_Error_Code.
struct CompileFailure : std::runtime_error {
  CompileFailure(int code, const std::string& message) : std::runtime_error(message), code(code) {}
  int code;
};

/// Compiles `program` ("mlir": a StableHLO portable artifact) under a serialized CompileOptionsProto. Takes
/// the GIL itself; throws CompileFailure.
std::shared_ptr<const Executable> compile(std::string_view program, std::string_view format,
                                          std::string_view options);
/// Makes an executable from Executable::serialized; `options` may be empty. Takes the GIL itself; throws
/// CompileFailure.
std::shared_ptr<const Executable> load(std::string_view serialized, std::string_view options);

}  // namespace xla_xpu

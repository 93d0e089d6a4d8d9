// What builds a kernel that no store has. builder.cpp asks the compilers in order.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "compile/build_input.h"
#include "compile/program/program.h"

namespace xpu {

struct Built {
  ProgramPtr program;  ///< null if another process built it: `native` or `spirv` is to be loaded
  Bytes spirv;         ///< of a source, on backends that use it
  Bytes native;        ///< empty if the backend gives none
};

class Compiler {
 public:
  virtual ~Compiler() = default;
  virtual std::string_view name() const = 0;
  /// Returns nullopt if this compiler is not to be had. Blocks until it is built; a signal may end the wait
  /// (see OperationScope). Throws CompileError if it cannot be built or takes longer than build_time_limit().
  virtual std::optional<Built> build(const BuildInput& input) = 0;
};

/// In the order in which builds ask them. The last one is always to be had.
std::span<Compiler* const> compilers();
/// Helper processes, whose crash does not end this one.
Compiler& helper_compiler();
/// The same at a lower priority, for threads that signals do not reach.
Compiler& background_compiler();
/// This process, if it can start no helper.
Compiler& in_process_compiler();

}  // namespace xpu

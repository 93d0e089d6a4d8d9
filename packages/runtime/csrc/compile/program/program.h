// A built program of one device: from source, from SPIR-V, or from a native binary.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sycl/sycl.hpp>
#include <vector>

#include "compile/program/spirv.h"
#include "xpu/cache.h"

namespace xpu {

class Program {
 public:
  virtual ~Program() = default;
  /// Throws UsageError if there is no such kernel, and lists the kernels if the backend can.
  virtual sycl::kernel kernel(const std::string& name) = 0;
  /// The argument for load_native() in a later process: the driver's binary or, in the generic mode, SYCL's
  /// image of the program (SYCLBIN). Empty if the backend gives none.
  virtual Bytes native() { return {}; }

  /// Null if neither the kernel's image nor its source tells its parameters.
  const Signature* signature(const std::string& kernel) const;
  Signatures signatures;
};

using ProgramPtr = std::unique_ptr<Program>;

struct CompiledSource {
  ProgramPtr program;
  Bytes spirv;  ///< empty on backends that do not use SPIR-V
};
/// Compiles `flat` with the wheel's SYCL compiler. Blocks. Throws CompileError with its log, and
/// OutOfResources as require_resources() does.
CompiledSource compile_source(int device, const std::string& flat, const std::vector<std::string>& options);
ProgramPtr load_spirv(int device, const Bytes& spirv);
/// Returns null if the backend has no binaries or the driver rejects this one.
ProgramPtr load_native(int device, const Bytes& binary);
/// False if images are not SPIR-V, and so do not tell kernels' parameters.
bool takes_spirv(int device);
/// Loads the source compiler early, which takes a while.
void prepare_compiler();
/// True if images are SPIR-V, which tells kernels' parameters.
bool images_tell_signatures();

}  // namespace xpu

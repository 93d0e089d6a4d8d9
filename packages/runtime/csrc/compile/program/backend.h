// What SYCL and the driver of a device build and load.
#pragma once

#include <string>
#include <vector>

#include "compile/program/program.h"

namespace xpu {

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

// Builds a program: the first store that has it answers, else the first compiler that is to be had, and the
// stores keep what that made. A source is first SPIR-V, for which the driver's native code is another answer
// of the stores; in the generic mode SYCL's image of the source is both.
#pragma once

#include "compile/build_input.h"
#include "compile/program/program.h"

namespace xpu {

/// Blocks; see OperationScope. SPIR-V must be such that read_signatures() accepts it.
ProgramPtr build_program(BuildInput input);

/// Returns the SPIR-V of a source, and builds it if no store has it. Throws Unsupported on backends that do
/// not use SPIR-V.
Bytes build_source_to_spirv(BuildInput source);

}  // namespace xpu

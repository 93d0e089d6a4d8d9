// A built program of one device: from source, from SPIR-V, or from a native binary.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sycl/sycl.hpp>
#include <vector>

#include "compile/spirv.h"
#include "xpu/cache.h"

namespace xpu {

class Program {
 public:
  virtual ~Program() = default;
  /// Throws UsageError, naming the kernels there are where the backend can say, when there is no such kernel.
  virtual sycl::kernel kernel(const std::string& name) = 0;
  /// What load_native takes in a later process: the driver's own binary or, in the generic mode, the image
  /// that SYCL makes of the program (SYCLBIN). Empty where it cannot be had.
  virtual Bytes native() { return {}; }

  /// What the kernel takes, in order; null if neither its image nor its source says it.
  const std::vector<Parameter>* parameters(const std::string& kernel) const;
  Signatures signatures;
};

using ProgramPtr = std::unique_ptr<Program>;

struct CompiledSource {
  ProgramPtr program;
  Bytes spirv;  ///< empty on backends whose images are something else
};
/// `flat` is compiled by the wheel's SYCL compiler. Throws CompileError with its log.
CompiledSource compile_source(int device, const std::string& flat, const std::vector<std::string>& options);
ProgramPtr load_spirv(int device, const Bytes& spirv);
/// Null when the backend keeps no binaries of ours or the driver refuses this one.
ProgramPtr load_native(int device, const Bytes& binary);
/// False where images are something else, and do not say what kernels take.
bool takes_spirv(int device);
/// Loads the compiler of sources, which takes a while, before it is needed.
void prepare_compiler();
/// True where images are SPIR-V, which says what kernels take.
bool images_tell_signatures();
/// Changes when the device or its driver does.
std::string target_id(int device);

}  // namespace xpu

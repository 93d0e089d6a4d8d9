// A built program of one device: from source, from SPIR-V, or from a native binary.
#pragma once

#include <string>
#include <sycl/sycl.hpp>

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

}  // namespace xpu

// Builds a program through the caches: native binary, then SPIR-V, then source. A miss fills the caches
// before it. In the generic mode SYCL's image replaces both.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/program.h"
#include "compile/sha256.h"

namespace xpu {

class Compilation;

/// Returns the bytes of the registers that kernels may use in assembly: 0 for kernels that other machines run
/// too.
int cpu_vector_bytes(int device);
/// Returns a kernel's source with its includes expanded and macros for the device.
std::string flat_source(std::string_view source, int sub_group_size, int cpu_vector_bytes);

class Builder {
 public:
  Builder(int device, std::string flat, std::vector<std::string> options);
  ProgramPtr build() const;
  Bytes spirv() const;
  /// The key under which ready_kernels has the SPIR-V.
  Sha256::Digest ready_key() const;

 private:
  std::optional<Bytes> spirv_from_disk() const;
  ProgramPtr from_cache() const;
  ProgramPtr from_ready_kernels() const;
  /// Returns null if there are no helpers, or this process cannot load their images.
  ProgramPtr from_helper() const;
  std::optional<Bytes> spirv_from_helper() const;
  CompiledSource compile() const;
  void dump_source() const;
  void keep(Compilation& compilation, const Bytes& spirv, const Bytes& native) const;

  int device_;
  std::string flat_;
  std::vector<std::string> options_;
  std::string hash_;
};

/// Builds SPIR-V that read_signatures() accepts, through the caches of native binaries. `name` is for dumps.
ProgramPtr program_of(int device, const Bytes& spirv, const std::string& name);
/// The key of SPIR-V's native binary in the disk cache.
std::string native_key(int device, const Bytes& spirv);
/// Builds SPIR-V in a background helper unless the disk cache has its binary, and writes that there.
void build_into_cache(int device, const Bytes& spirv);

}  // namespace xpu

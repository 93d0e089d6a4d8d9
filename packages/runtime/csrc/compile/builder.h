// Builds a program through the caches: native binary, then SPIR-V, then source; a miss fills those above it.
// In the generic mode an image, which SYCL gives and takes back, stands for both.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/program.h"

namespace xpu {

class Compilation;

/// A kernel's source with all it includes, and what it is to know of the device.
std::string flat_source(int device, std::string_view source);

class Builder {
 public:
  Builder(int device, std::string flat, std::vector<std::string> options);
  ProgramPtr build() const;
  Bytes spirv() const;

 private:
  ProgramPtr from_cache() const;
  /// Null when there may be no helpers, or where their images cannot be loaded here.
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

/// The program of SPIR-V that read_signatures takes, also through the cache of native binaries. `name` is
/// what it is dumped as.
ProgramPtr program_of(int device, const Bytes& spirv, const std::string& name);

}  // namespace xpu

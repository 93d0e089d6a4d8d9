// What a build starts from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "xpu/cache.h"

namespace xpu {

struct BuildInput {
  int device;
  std::string source;                ///< with its includes expanded; empty to build `spirv` instead
  std::vector<std::string> options;  ///< of the source's compiler
  Bytes spirv;
};

/// Returns a kernel's source as the compiler gets it. `vector_bytes` are those of cpu_vector_bytes() or, for
/// a kernel that ships, of the CPUs that it is for.
BuildInput source_input(int device, std::string_view source, int sub_group_size,
                        const std::vector<std::string>& options, int vector_bytes);
/// True for BuildInput::source, as dumps have it.
bool is_expanded(std::string_view source);
BuildInput spirv_input(int device, Bytes spirv);

/// Returns the bytes of the registers that kernels may use in assembly: 0 for kernels that other machines run
/// too.
int cpu_vector_bytes(int device);

}  // namespace xpu

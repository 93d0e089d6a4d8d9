// The keys under which stores have what builds make.
#pragma once

#include <string>

#include "compile/build_input.h"
#include "compile/sha256.h"

namespace xpu {

using ReadyKey = Sha256::Digest;

struct Key {
  enum class Kind { spirv, native };
  Kind kind;
  int device;
  std::string id;  ///< 64 hexadecimal digits, which name the disk cache's file and dumps
  ReadyKey ready;  ///< names it in the files that ship
};

/// The key of the SPIR-V of a source.
Key spirv_key(const BuildInput& source);
/// The key of what the driver makes of SPIR-V or, in the generic mode, of SYCL's image of a source.
Key native_key(const BuildInput& input);

/// Key::ready of the native image of SPIR-V for CPUs whose vector registers have so many bytes.
ReadyKey image_key(int device, const Bytes& spirv, int vector_bytes);
/// Identifies the device and its driver's version.
std::string target_id(int device);

}  // namespace xpu

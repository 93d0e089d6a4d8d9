// What a launch takes from Python, as the runtime's types.
#pragma once

#include <string_view>
#include <vector>

#include "bindings.h"
#include "kernel.h"
#include "xpu/arguments.h"

namespace xpu::bindings {

enum class ValueKind : std::uint8_t {
  address,
  boolean,
  signed_integer,
  unsigned_integer,
  floating,
  bf16,
  bytes
};

struct ValueType {
  ValueKind kind;
  std::uint16_t size;
};

/// The types of a kernel's arguments, and where each argument lies among the bytes of all.
struct LaunchTypes {
  static constexpr std::size_t max_bytes = 65528;

  /// Reads "ppi8f4". Throws UsageError for an unknown type and for types that the kernel's parameters are
  /// not.
  LaunchTypes(std::string_view text, const Kernel& kernel);

  std::vector<ValueType> values;
  std::vector<ArgumentItem> items;
  std::size_t bytes = 0;
};

/// Writes one value for each type. Throws UsageError, which names the kernel and the argument, for a value of
/// another type or outside of the type's range.
void write_values(const LaunchTypes& types, PyObject* const* values, const Kernel& kernel, Stream stream,
                  unsigned char* to);

/// The global and the local size, each an integer or up to three, slowest first. Throws UsageError.
NdRange read_range(PyObject* global, PyObject* local, const Kernel& kernel);

/// The value of a number or text and its type, for error messages; of other objects only the type.
std::string shown(PyObject* value);

/// Clears the exception of a value that is of another type or out of range. Throws what else its methods
/// raised, such as Ctrl-C.
void clear_conversion_error();

}  // namespace xpu::bindings

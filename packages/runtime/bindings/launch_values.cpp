#include <cctype>
#include <cmath>
#include <cstring>

#include "address.h"
#include "launcher.h"
#include "xpu/error.h"

namespace xpu::bindings {
namespace {

struct NamedType {
  std::string_view name;
  ValueType type;
};

constexpr NamedType types[] = {
    {"p", {ValueKind::address, 8}},           {"b1", {ValueKind::boolean, 1}},
    {"i1", {ValueKind::signed_integer, 1}},   {"i2", {ValueKind::signed_integer, 2}},
    {"i4", {ValueKind::signed_integer, 4}},   {"i8", {ValueKind::signed_integer, 8}},
    {"u1", {ValueKind::unsigned_integer, 1}}, {"u2", {ValueKind::unsigned_integer, 2}},
    {"u4", {ValueKind::unsigned_integer, 4}}, {"u8", {ValueKind::unsigned_integer, 8}},
    {"f2", {ValueKind::floating, 2}},         {"f4", {ValueKind::floating, 4}},
    {"f8", {ValueKind::floating, 8}},         {"bf2", {ValueKind::bf16, 2}},
};

std::string_view name_of(ValueType type) {
  for (auto& known : types)
    if (known.type.kind == type.kind && known.type.size == type.size) return known.name;
  return "struct";
}

// Removes the first type from `text`: a name of the table, or sN for a struct of N bytes.
ValueType take_type(std::string_view& text) {
  for (auto& known : types)
    if (text.starts_with(known.name)) {
      text.remove_prefix(known.name.size());
      return known.type;
    }
  std::size_t size = 0, digits = 1;
  if (text.starts_with('s'))
    for (; digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) && size < 65536;
         ++digits)
      size = size * 10 + static_cast<std::size_t>(text[digits] - '0');
  expect<UsageError>(size > 0 && size < 65536, "launcher: \"", text,
                     "\" begins with no type; expected p (an address), b1, i1, i2, i4, i8, u1, u2, u4, u8, "
                     "f2, f4, f8, bf2, or sN for a struct of N bytes");
  text.remove_prefix(digits);
  return {ValueKind::bytes, static_cast<std::uint16_t>(size)};
}

[[noreturn]] void throw_wrong_value(PyObject* value, ValueType type, const Kernel& kernel,
                                    std::size_t index) {
  clear_conversion_error();
  auto expected = type.kind == ValueKind::address ? "a tensor, an array or an address"
                  : type.kind == ValueKind::bytes ? join("an object with ", type.size, " bytes")
                                                  : std::string(name_of(type));
  fail<UsageError>(Named{kernel}, ": argument ", index, ": got ", shown(value), ", expected ", expected);
}

bool write_integer(PyObject* value, ValueType type, unsigned char* to) {
  auto number = PyLong_CheckExact(value) ? py::reinterpret_borrow<py::object>(value)
                                         : py::reinterpret_steal<py::object>(PyNumber_Index(value));
  if (!number) return false;
  auto bits = 8 * type.size;
  if (type.kind == ValueKind::unsigned_integer) {
    auto n = PyLong_AsUnsignedLongLong(number.ptr());
    if ((n == ~0ull && PyErr_Occurred()) || (bits < 64 && n >> bits)) return false;
    std::memcpy(to, &n, type.size);
    return true;
  }
  auto n = PyLong_AsLongLong(number.ptr());
  if (n == -1 && PyErr_Occurred()) return false;
  auto limit = std::int64_t{1} << (bits - 1);
  if (bits < 64 && (n < -limit || n >= limit)) return false;
  std::memcpy(to, &n, type.size);
  return true;
}

bool write_float(PyObject* value, ValueType type, unsigned char* to) {
  auto number = PyFloat_AsDouble(value);
  if (number == -1 && PyErr_Occurred()) return false;
  if (type.size == 8) {
    std::memcpy(to, &number, 8);
  } else if (type.size == 2) {
    return PyFloat_Pack2(number, reinterpret_cast<char*>(to), 1) == 0;
  } else {
    auto narrow = static_cast<float>(number);
    std::memcpy(to, &narrow, 4);
  }
  return true;
}

// Rounded to the nearest, ties to even.
bool write_bf16(PyObject* value, unsigned char* to) {
  auto number = PyFloat_AsDouble(value);
  if (number == -1 && PyErr_Occurred()) return false;
  auto bits = __builtin_bit_cast(std::uint32_t, static_cast<float>(number));
  auto rounded = std::isnan(number) ? std::uint32_t{0x7FC0} : (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  std::memcpy(to, &rounded, 2);
  return true;
}

bool write_boolean(PyObject* value, unsigned char* to) {
  auto is_true = PyObject_IsTrue(value);
  *to = is_true == 1;
  return is_true >= 0;
}

bool write_bytes(PyObject* value, ValueType type, unsigned char* to) {
  Py_buffer view;
  if (PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) != 0) return false;
  bool fits = view.len == type.size;
  if (fits) std::memcpy(to, view.buf, type.size);
  PyBuffer_Release(&view);
  return fits;
}

bool write_address(PyObject* value, const Kernel& kernel, std::size_t index, Stream stream,
                   unsigned char* to) {
  void* address = nullptr;
  if (PyLong_CheckExact(value)) {
    auto number = PyLong_AsUnsignedLongLong(value);
    if (number == ~0ull && PyErr_Occurred()) return false;
    address = reinterpret_cast<void*>(number);
  } else if (!find_address(value, kernel, index, stream, &address)) {
    return false;
  }
  std::memcpy(to, &address, sizeof address);
  return true;
}

// Returns false if the value is not one of the type, maybe with a Python exception set.
bool write_value(PyObject* value, ValueType type, const Kernel& kernel, std::size_t index, Stream stream,
                 unsigned char* to) {
  switch (type.kind) {
    case ValueKind::address:
      return write_address(value, kernel, index, stream, to);
    case ValueKind::boolean:
      return write_boolean(value, to);
    case ValueKind::signed_integer:
    case ValueKind::unsigned_integer:
      return write_integer(value, type, to);
    case ValueKind::floating:
      return write_float(value, type, to);
    case ValueKind::bf16:
      return write_bf16(value, to);
    case ValueKind::bytes:
      return write_bytes(value, type, to);
  }
  return false;
}

}  // namespace

LaunchTypes::LaunchTypes(std::string_view text, const Kernel& kernel) {
  while (!text.empty()) {
    auto type = take_type(text);
    values.push_back(type);
    items.push_back(next_argument(bytes, type.size, type.kind == ValueKind::address));
    bytes = items.back().offset + std::size_t{type.size};
    expect<UsageError>(bytes <= max_bytes, Named{kernel}, ": the types are of over ", max_bytes, " bytes");
  }
  require_parameters(kernel, {items.data(), items.size(), nullptr});
}

void write_values(const LaunchTypes& types, PyObject* const* values, const Kernel& kernel, Stream stream,
                  unsigned char* to) {
  for (std::size_t i = 0; i < types.values.size(); ++i)
    if (!write_value(values[i], types.values[i], kernel, i, stream, to + types.items[i].offset)) [[unlikely]]
      throw_wrong_value(values[i], types.values[i], kernel, i);
}

}  // namespace xpu::bindings

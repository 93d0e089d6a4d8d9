// Tensors: views of device memory with a type, a shape and strides, for kernels and dnn calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>

#include "xpu/abi.h"
#include "xpu/element_table.h"

namespace xpu {

enum class ElementKind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating, complex };

/// boolean, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64, c64, c128, f8e4m3, f8e5m2, u4, i4, f4
/// (e2m1), f8e8m0 (powers of two).
enum class DType : std::uint8_t {
#define XPU_ENUMERATOR(dtype, ...) dtype,
  XPU_FOR_DTYPES(XPU_ENUMERATOR)
#undef XPU_ENUMERATOR
};

/// The kind of each DType, by number.
inline constexpr ElementKind element_kinds[] = {
#define XPU_KIND(dtype, name, kind, ...) ElementKind::kind,
    XPU_FOR_DTYPES(XPU_KIND)
#undef XPU_KIND
};

/// Bytes of one element; u4, i4 and f4 are packed two to a byte and give 0.
XPU_API std::size_t size_of(DType dtype);
/// "f32", "bf16", "bool", ...
XPU_API const char* name_of(DType dtype);
/// The dtype of a name. Throws UsageError, which lists the names.
XPU_API DType dtype_of(const std::string& name);
/// The dtype of unsigned integers of 1, 2, 4 or 8 bytes, or c128 for 16: for copies that do not look at
/// values.
XPU_API DType dtype_of_width(std::size_t bytes);

constexpr ElementKind kind_of(DType t) {
  return element_kinds[static_cast<std::size_t>(t)];
}
constexpr bool is_float(DType t) {
  return kind_of(t) == ElementKind::floating;
}
constexpr bool is_complex(DType t) {
  return kind_of(t) == ElementKind::complex;
}
constexpr bool is_integer(DType t) {
  return kind_of(t) == ElementKind::signed_integer || kind_of(t) == ElementKind::unsigned_integer;
}

/// Does not own the memory. Strides count elements and may be zero or negative.
struct XPU_API Tensor {
  static constexpr int max_dims = 64;  ///< as many as PyTorch and NumPy have

  void* data = nullptr;
  DType dtype = DType::f32;
  int ndim = 0;
  std::int64_t shape[max_dims], strides[max_dims];  ///< the first `ndim` entries are set

  Tensor() {}
  /// Copies only the dimensions that are set, because every call passes tensors.
  Tensor(const Tensor& other);
  Tensor& operator=(const Tensor& other);
  /// Throws UsageError for more than max_dims dimensions or a negative size.
  Tensor(void* data, DType dtype, int ndim, const std::int64_t* shape, const std::int64_t* strides);
  /// A contiguous tensor.
  Tensor(void* data, DType dtype, std::initializer_list<std::int64_t> shape);

  std::int64_t numel() const;
  bool contiguous() const;       ///< row-major without gaps
  std::string describe() const;  ///< "f32[2,3]{3,1}"
};

/// Writes describe(). In the arguments of expect() it costs nothing unless the check fails; describe() would.
XPU_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace xpu

// Functions that calls of all expression kernels share: names, dtypes, pointers and scalars.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "kernels/geometry.h"
#include "xpu/error.h"
#include "xpu/kernels/scalar.h"
#include "xpu/launch.h"

namespace xpu::kernels {

/// Throws UsageError unless `name` may be part of a kernel's name.
void check_name(const std::string& name, const char* what);
/// `asked`, or what the inputs promote to, or the dtype of the first output when there are none.
DType compute_dtype(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                    std::optional<DType> asked);
/// The address of the tensor's element `offset`. Throws UsageError when the tensor has no memory.
void add_pointer(Args& args, const std::string& name, const Tensor& tensor, std::int64_t offset);
/// The kernel's Parameters: see SourceWriter::types.
void add_scalars(Args& args, DType compute, std::span<const Scalar> scalars);

/// Returns the smallest number of kernel dimensions that holds `dims`: one of those offered, or the maximum.
inline std::uint8_t kernel_dims(int dims, std::initializer_list<int> offered) {
  for (int d : offered)
    if (dims <= d) return static_cast<std::uint8_t>(d);
  expect<Unsupported>(dims <= Geometry::max_kernel_dims, "got ", dims,
                      " dimensions that do not lie one inside the other, expected at most ",
                      int{Geometry::max_kernel_dims}, "; make the tensors contiguous");
  return Geometry::max_kernel_dims;
}

/// A struct of the kernel's whose arrays have as many dimensions as the kernel was built for: written field
/// by field.
class PackedStruct {
 public:
  template <class T>
  PackedStruct& add(T value) {
    used_ = (used_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    std::memcpy(bytes_ + used_, &value, sizeof(T));
    used_ += sizeof(T);
    return *this;
  }
  /// `i64 size[dims], stride[operands][dims]`, the operands in the order given; -1 stands for one that does
  /// not move.
  PackedStruct& add_shape(const Geometry& g, int dims, std::span<const int> operands) {
    for (int d = 0; d < dims; ++d) add<std::int64_t>(d < g.dims ? g.size[d] : 1);
    for (int k : operands)
      for (int d = 0; d < dims; ++d) add<std::int64_t>(d < g.dims && k >= 0 ? g.stride[k][d] : 0);
    return *this;
  }
  void pass(Args& args) {
    used_ = (used_ + 7) / 8 * 8;
    args.add_bytes(bytes_, used_);
  }

 private:
  std::size_t used_ = 0;
  alignas(8) unsigned char bytes_[Args::max_bytes];
};

}  // namespace xpu::kernels

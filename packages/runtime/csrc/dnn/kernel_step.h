// A plan's step that launches one of our kernels. Its arguments are operands and constants.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "dnn/plan.h"
#include "xpu/launch.h"

namespace xpu::dnn {

/// Arguments of a kernel in order: operands by index, structs by value.
class KernelArguments {
 public:
  KernelArguments& operand(int index, std::int64_t byte_offset = 0) {
    items_.emplace_back(Operand{index, byte_offset});
    return *this;
  }
  template <class T>
  KernelArguments& value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return bytes(&value, sizeof value);
  }
  KernelArguments& bytes(const void* data, std::size_t size) {
    auto begin = static_cast<const unsigned char*>(data);
    items_.emplace_back(std::vector<unsigned char>(begin, begin + size));
    return *this;
  }
  KernelArguments& append(const KernelArguments& more) {
    items_.insert(items_.end(), more.items_.begin(), more.items_.end());
    return *this;
  }
  /// Returns the arguments with each operand's address from `pointers`.
  Args bind(void* const* pointers) const;

 private:
  struct Operand {
    int index;
    std::int64_t byte_offset;
  };
  std::vector<std::variant<Operand, std::vector<unsigned char>>> items_;
};

class KernelStep : public Step {
 public:
  KernelStep(Kernel kernel, NdRange range, KernelArguments arguments)
      : kernel_(kernel), range_(range), arguments_(std::move(arguments)) {}
  void run(Stream stream, const std::shared_ptr<const Plan>& plan, void* const* pointers) const override;

 private:
  Kernel kernel_;
  NdRange range_;
  KernelArguments arguments_;
};

/// Returns the number of items that share a row. On a CPU it is one sub-group, which needs no barriers.
std::size_t row_group(int device);

/// Defines `name` as 1 for a stride of 1, so that the compiler uses vectors, otherwise as `value`.
std::string define_step(const char* name, std::int64_t stride, const char* value);

/// Returns a type's name in kernel source: "float", "xpu::bf16", "xpu::u4x2".
const char* kernel_type(DType dtype);

}  // namespace xpu::dnn

// One run of a program: where its arrays are, and the stream its work goes to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xla_xpu {

/// A view of a buffer of the program, by the buffer's number.
struct Operand {
  int buffer = 0;
  std::int64_t offset = 0;  ///< bytes
  xpu::Tensor view;         ///< without memory
};

class Frame {
 public:
  Frame(xpu::Stream stream, std::size_t buffers, int number)
      : stream(stream), number(number), base(buffers) {}

  void* pointer(int buffer, std::int64_t offset) const {
    return base[static_cast<std::size_t>(buffer)] + offset;
  }
  xpu::Tensor at(const Operand& operand) const {
    auto tensor = operand.view;
    tensor.data = pointer(operand.buffer, operand.offset);
    return tensor;
  }
  std::vector<xpu::Tensor> at(const std::vector<Operand>& operands) const {
    std::vector<xpu::Tensor> tensors;
    tensors.reserve(operands.size());
    for (auto& operand : operands) tensors.push_back(at(operand));
    return tensors;
  }

  xpu::Stream stream;
  int number;  ///< which of the program's devices, [replica][partition]
  std::vector<std::byte*> base;
};

}  // namespace xla_xpu

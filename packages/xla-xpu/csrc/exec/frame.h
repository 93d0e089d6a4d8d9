// State of one run of a program on one device: buffer addresses and the stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xla_xpu {

/// A view of a buffer of the program.
struct Operand {
  int buffer = 0;           ///< index
  std::int64_t offset = 0;  ///< bytes
  xpu::Tensor view;         ///< its data pointer is null
};

class Frame {
 public:
  Frame(xpu::Stream stream, std::size_t buffers, int device_index)
      : stream(stream), device_index(device_index), base(buffers) {}

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
  int device_index;  ///< in the program's list of devices, [replica][partition]
  std::vector<std::byte*> base;
};

}  // namespace xla_xpu

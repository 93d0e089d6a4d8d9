// The operands of one call from Python: arrays of the device that the call's stream belongs to.
#pragma once

#include <optional>
#include <vector>

#include "tensor.h"
#include "xpu/stream.h"

namespace xpu::bindings {

/// Every operand of a call is taken through one of these, before the call does anything. Throws UsageError,
/// which names the call and the argument, for what is no array and for memory of another device.
class Operands {
 public:
  Operands(const char* call, int device) : call_(call), device_(device) {}
  Operands(const char* call, Stream stream) : Operands(call, stream.device()) {}

  /// `part` says which of the argument's arrays it is: "scale".
  Tensor one(const char* argument, py::handle array, const char* part = "") const;
  /// An array that may be of another device: the source of a copy.
  Tensor of_any_device(const char* argument, py::handle array) const;
  /// None is none.
  std::optional<Tensor> maybe(const char* argument, py::handle array, const char* part = "") const;
  std::vector<Tensor> all(const char* argument, const py::sequence& arrays) const;

 private:
  DeviceTensor find(const char* argument, py::handle array, const char* part) const;

  const char* call_;
  int device_;
};

}  // namespace xpu::bindings

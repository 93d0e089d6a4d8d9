#include "operands.h"

#include "xpu/error.h"

namespace xpu::bindings {

DeviceTensor Operands::find(const char* argument, py::handle array, const char* part) const {
  auto found = find_tensor(array);
  if (!found)
    fail<UsageError>(call_, ": ", argument, *part ? " " : "", part, " is a ",
                     py::str(py::type::of(array)).cast<std::string>(), ", expected an Array of xpu_runtime");
  return *found;
}

Tensor Operands::one(const char* argument, py::handle array, const char* part) const {
  auto found = find(argument, array, part);
  expect<UsageError>(found.device == device_, call_, ": ", argument, *part ? " " : "", part, " is ",
                     static_cast<const Tensor&>(found), " of device ", found.device,
                     ", expected an array of device ", device_, ", which the stream belongs to");
  return found;
}

Tensor Operands::of_any_device(const char* argument, py::handle array) const {
  return find(argument, array, "");
}

std::optional<Tensor> Operands::maybe(const char* argument, py::handle array, const char* part) const {
  if (array.is_none()) return std::nullopt;
  return one(argument, array, part);
}

std::vector<Tensor> Operands::all(const char* argument, const py::sequence& arrays) const {
  std::vector<Tensor> list;
  for (auto array : arrays) list.push_back(one(argument, array));
  return list;
}

}  // namespace xpu::bindings

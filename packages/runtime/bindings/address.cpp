#include "address.h"

#include <vector>

#include "kernel.h"
#include "tensor.h"
#include "xpu/error.h"

namespace xpu::bindings {
namespace {

constexpr const char* capsule_name = "xpu_runtime.address_of";

// A type of tensors that an adapter has registered.
struct TensorType {
  PyTypeObject* type;  // never destroyed
  AddressOf native;    // null: `python` is called instead
  PyObject* python;
};

// Under the GIL.
std::vector<TensorType>& tensor_types() {
  static auto* types = new std::vector<TensorType>;
  return *types;
}

const TensorType* find_type(PyTypeObject* type) {
  for (auto& known : tensor_types())
    if (known.type == type) return &known;
  for (auto& known : tensor_types())
    if (PyType_IsSubtype(type, known.type)) return &known;
  return nullptr;
}

// `function` is a capsule of an AddressOf, or callable as function(tensor, stream) -> (address, device).
void register_tensor_type(py::type type, py::object function) {
  bool is_native = PyCapsule_IsValid(function.ptr(), capsule_name);
  auto native =
      is_native ? reinterpret_cast<AddressOf>(PyCapsule_GetPointer(function.ptr(), capsule_name)) : nullptr;
  tensor_types().push_back({reinterpret_cast<PyTypeObject*>(type.release().ptr()), native,
                            is_native ? nullptr : function.release().ptr()});
}

struct Address {
  void* pointer;
  int device;
};

Address address_of(TensorType type, py::handle tensor, Stream stream) {
  Address found{};
  if (type.native) {
    if (!type.native(tensor.ptr(), stream, &found.pointer, &found.device)) throw py::error_already_set();
    return found;
  }
  auto result = py::handle(type.python)(tensor, stream).cast<std::pair<std::uintptr_t, int>>();
  return {reinterpret_cast<void*>(result.first), result.second};
}

}  // namespace

bool find_address(py::handle value, const Kernel& kernel, std::size_t index, Stream stream, void** address) {
  Address found{};
  if (auto* type = find_type(Py_TYPE(value.ptr())))
    found = address_of(*type, value, stream);
  else if (auto array = find_tensor(value))
    found = {array->data, array->device};
  else
    return false;
  if (found.device != kernel.device()) [[unlikely]]
    fail<UsageError>(Named{kernel}, ": argument ", index, " is a tensor of ",
                     found.device < 0 ? "the host" : join("device ", found.device),
                     ", expected one of device ", kernel.device());
  *address = found.pointer;
  return true;
}

void bind_address(py::module_& m) {
  m.def("register_tensor_type", &register_tensor_type, py::arg("type"), py::arg("address_of"),
        "Make objects of a framework's type arguments of launches. `address_of` is a capsule named "
        "\"xpu_runtime.address_of\", or a function of a tensor and a stream that returns its address and "
        "device.");
}

}  // namespace xpu::bindings

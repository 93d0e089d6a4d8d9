#include "python/device/empty_strided.h"

#include <ATen/EmptyTensor.h>
#include <torch/csrc/Dtype.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

namespace torch_xpu {
namespace {

c10::SmallVector<std::int64_t, 8> integers(PyObject* tuple) {
  TORCH_CHECK_TYPE(PyTuple_Check(tuple), "empty_strided_xpu(): sizes and strides are tuples");
  c10::SmallVector<std::int64_t, 8> values;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    values.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i)));
    if (values.back() == -1 && PyErr_Occurred()) throw python_error();
  }
  return values;
}

}  // namespace

PyObject* empty_strided(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(count == 3, "empty_strided_xpu(): got ", count,
                   " arguments, expected size, stride, dtype");
  TORCH_CHECK_TYPE(THPDtype_Check(arguments[2]), "empty_strided_xpu(): the third argument is a dtype");
  auto sizes = integers(arguments[0]), strides = integers(arguments[1]);
  TORCH_CHECK(sizes.size() == strides.size(), "empty_strided_xpu(): got ", sizes.size(), " sizes and ",
              strides.size(), " strides");
  static auto* const allocator = c10::GetAllocator(c10::DeviceType::XPU);
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::XPU);
  auto type = reinterpret_cast<THPDtype*>(arguments[2])->scalar_type;
  return THPVariable_Wrap(at::detail::empty_strided_generic(sizes, strides, allocator, keys, type));
  END_HANDLE_TH_ERRORS
}

}  // namespace torch_xpu

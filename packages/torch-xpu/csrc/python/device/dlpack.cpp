#include "python/device/dlpack.h"

#include <ATen/DLConvertor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <torch/csrc/autograd/python_variable.h>

#include <algorithm>

namespace torch_xpu {
namespace {

namespace py = pybind11;

bool nothing_of_ours(const DLTensor& t) {
  return t.device.device_type == DLDeviceType::kDLOneAPI && std::count(t.shape, t.shape + t.ndim, 0) > 0;
}

template <class Managed>
py::object take(PyObject* capsule, const char* name, const char* used) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (!managed || !nothing_of_ours(managed->dl_tensor)) return py::none();
  auto& t = managed->dl_tensor;
  auto ndim = static_cast<std::size_t>(t.ndim);
  auto options = at::TensorOptions()
                     .dtype(at::toScalarType(t.dtype))
                     .device(at::kXPU, static_cast<c10::DeviceIndex>(t.device.device_id));
  at::IntArrayRef sizes(t.shape, ndim);
  auto tensor = t.strides ? at::empty_strided(sizes, at::IntArrayRef(t.strides, ndim), options)
                          : at::empty(sizes, options);
  PyCapsule_SetName(capsule, used);
  if (managed->deleter) managed->deleter(managed);
  return py::reinterpret_steal<py::object>(THPVariable_Wrap(tensor));
}

}  // namespace

py::object empty_from_dlpack(const py::object& capsule) {
  auto* c = capsule.ptr();
  if (PyCapsule_IsValid(c, "dltensor")) return take<DLManagedTensor>(c, "dltensor", "used_dltensor");
  if (PyCapsule_IsValid(c, "dltensor_versioned"))
    return take<DLManagedTensorVersioned>(c, "dltensor_versioned", "used_dltensor_versioned");
  return py::none();
}

}  // namespace torch_xpu

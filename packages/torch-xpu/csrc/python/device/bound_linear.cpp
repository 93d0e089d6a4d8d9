#include "python/device/bound_linear.h"

#include <ATen/PythonTorchFunctionTLS.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

#include <memory>
#include <optional>

namespace py = pybind11;

namespace torch_xpu {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

OptionalTensor tensor_or_none(PyObject* object) {
  if (object == Py_None) return {};
  TORCH_CHECK_TYPE(THPVariable_Check(object), "got ", Py_TYPE(object)->tp_name,
                   ", expected a tensor or None");
  return THPVariable_Unpack(object);
}

struct LowBitLinear {
  static constexpr const char* name = "low_bit_linear";
  std::string format;
  OptionalTensor scale, zero_point, offset;

  bool takes(const Tensor&, const OptionalTensor&) const { return true; }
  Tensor operator()(const Tensor& input, const Tensor& weight, const OptionalTensor& bias) const {
    using Signature =
        Tensor(const Tensor&, const Tensor&, std::string_view, const OptionalTensor&, const OptionalTensor&,
               const OptionalTensor&, const OptionalTensor&, const OptionalTensor&);
    static auto op =
        c10::Dispatcher::singleton().findSchemaOrThrow("torch_xpu::low_bit_linear", "").typed<Signature>();
    return op.call(input, weight, format, scale, zero_point, offset, bias, {});
  }
};

struct DynamicLinear {
  static constexpr const char* name = "dynamic_linear";
  Tensor scale;

  bool takes(const Tensor& input, const OptionalTensor& bias) const {
    auto type = input.scalar_type();
    bool is_float = type == at::kFloat || type == at::kHalf || type == at::kBFloat16;
    bool needs_gradient =
        at::GradMode::is_enabled() && (input.requires_grad() || (bias && bias->requires_grad()));
    return is_float && !needs_gradient && input.numel() > 0;
  }
  Tensor operator()(const Tensor& input, const Tensor& weight, const OptionalTensor& bias) const {
    using Signature = Tensor(const Tensor&, const Tensor&, const Tensor&, const OptionalTensor&);
    static auto op =
        c10::Dispatcher::singleton().findSchemaOrThrow("torch_xpu::dynamic_linear", "").typed<Signature>();
    return op.call(input, weight, scale, bias);
  }
};

template <class Linear>
struct Bound {
  py::object otherwise;
  Linear linear;
};

// Returns true while something changes what operators do, or is told of them in Python.
bool has_modes() {
  return at::impl::torch_function_mode_enabled() || c10::impl::TorchDispatchModeTLS::any_modes_set() ||
         at::autocast::is_autocast_enabled(at::kXPU) ||
         c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::FuncTorchDynamicLayerFrontMode);
}

// A subclass has a __torch_function__ of its own.
bool are_plain(PyObject* const* arguments) {
  return THPVariable_CheckExact(arguments[0]) && THPVariable_CheckExact(arguments[1]) &&
         (arguments[2] == Py_None || THPVariable_CheckExact(arguments[2]));
}

template <class Linear>
PyObject* call(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(count == 3, Linear::name, ": got ", count, " arguments, expected input, weight, bias");
  auto& bound = *static_cast<const Bound<Linear>*>(PyCapsule_GetPointer(self, Linear::name));
  if (are_plain(arguments) && !has_modes()) {
    auto& input = THPVariable_Unpack(arguments[0]);
    auto& weight = THPVariable_Unpack(arguments[1]);
    auto bias = tensor_or_none(arguments[2]);
    bool has_one_type = !bias || bias->scalar_type() == input.scalar_type();
    if (input.is_xpu() && has_one_type && bound.linear.takes(input, bias)) {
      Tensor result;
      {
        py::gil_scoped_release no_gil;
        result = bound.linear(input, weight, bias);
      }
      return THPVariable_Wrap(std::move(result));
    }
  }
  return PyObject_Vectorcall(bound.otherwise.ptr(), arguments, 3, nullptr);
  END_HANDLE_TH_ERRORS
}

// A function whose `self` is a capsule with what is bound.
template <class Linear>
py::object make_function(Bound<Linear> bound) {
  static PyMethodDef method{Linear::name,
                            reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&call<Linear>)),
                            METH_FASTCALL, "(input, weight, bias): the product; see bound_linear.h."};
  auto owned = std::make_unique<Bound<Linear>>(std::move(bound));
  py::capsule self(owned.get(), Linear::name, [](PyObject* capsule) {
    delete static_cast<Bound<Linear>*>(PyCapsule_GetPointer(capsule, Linear::name));
  });
  owned.release();
  auto* function = PyCFunction_New(&method, self.ptr());
  if (!function) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(function);
}

}  // namespace

py::object bind_low_bit_linear(py::object otherwise, std::string format, py::object scale,
                               py::object zero_point, py::object offset) {
  return make_function(Bound<LowBitLinear>{std::move(otherwise),
                                           {std::move(format), tensor_or_none(scale.ptr()),
                                            tensor_or_none(zero_point.ptr()), tensor_or_none(offset.ptr())}});
}

py::object bind_dynamic_linear(py::object otherwise, py::object scale) {
  TORCH_CHECK_TYPE(THPVariable_Check(scale.ptr()), "bind_dynamic_linear: the scale is no tensor");
  return make_function(Bound<DynamicLinear>{std::move(otherwise), {THPVariable_Unpack(scale.ptr())}});
}

}  // namespace torch_xpu

// The arguments of operators, as the dispatcher passes them: which device they are on.
#pragma once

#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/OptionalRef.h>

#include <optional>
#include <type_traits>

#include "xpu/interrupt.h"

namespace torch_xpu {

namespace detail {

template <class T>
struct Dispatched {
  using type = T;
};
template <>
struct Dispatched<at::OptionalTensorRef> {
  using type = const std::optional<at::Tensor>&;
};
template <>
struct Dispatched<at::OptionalScalarRef> {
  using type = const std::optional<at::Scalar>&;
};
template <>
struct Dispatched<at::IOptTensorListRef> {
  using type = const c10::List<std::optional<at::Tensor>>&;
};

/// Calls visit(tensor) for each tensor in one argument.
template <class Visit, class T>
void each_tensor(Visit& visit, const T& argument) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    if (argument.defined()) visit(argument);
  } else if constexpr (std::is_same_v<T, std::optional<at::Tensor>>) {
    if (argument && argument->defined()) visit(*argument);
  } else if constexpr (std::is_same_v<T, c10::List<std::optional<at::Tensor>>>) {
    for (std::size_t i = 0; i < argument.size(); ++i)
      each_tensor(visit, std::optional<at::Tensor>(argument[i]));
  } else if constexpr (std::is_same_v<T, at::ITensorListRef> || std::is_same_v<T, at::TensorList>) {
    for (const at::Tensor& t : argument) each_tensor(visit, t);
  }
}

}  // namespace detail

/// The type that PyTorch's dispatcher passes for a parameter of type T of a meta function.
template <class T>
using AsDispatched = typename detail::Dispatched<T>::type;

/// Converts an argument of the dispatcher to the type that a meta function takes.
template <class Meta, class T>
decltype(auto) as_meta(const T& argument) {
  if constexpr (std::is_same_v<Meta, at::OptionalTensorRef>)
    return argument && argument->defined() ? at::OptionalTensorRef(*argument) : at::OptionalTensorRef();
  else if constexpr (std::is_same_v<Meta, at::OptionalScalarRef>)
    return argument ? at::OptionalScalarRef(&*argument) : at::OptionalScalarRef();
  else if constexpr (std::is_same_v<Meta, at::IOptTensorListRef>)
    return at::IOptTensorListRef(argument);
  else
    return argument;
}

inline bool given(const std::optional<at::Tensor>& argument) {
  return argument && argument->defined();
}

/// While an operator runs: its device is the current one, and Ctrl-C ends no wait once it has enqueued work.
struct OperatorGuard {
  explicit OperatorGuard(std::optional<c10::Device> device) : device(device) {}
  xpu::OperationScope operation;
  c10::OptionalDeviceGuard device;
};

/// On the device of the first xpu tensor.
template <class... Args>
OperatorGuard guard_for(const Args&... args) {
  std::optional<c10::Device> device;
  auto visit = [&](const at::Tensor& t) {
    if (!device && t.is_xpu()) device = t.device();
  };
  (detail::each_tensor(visit, args), ...);
  return OperatorGuard(device);
}

[[noreturn]] void refuse_devices(c10::Device one, c10::Device other);

/// Throws unless all tensors are on one device.
template <class... Args>
void check_one_device(const Args&... args) {
  std::optional<c10::Device> device;
  auto visit = [&](const at::Tensor& t) {
    if (!device)
      device = t.device();
    else if (*device != t.device())
      refuse_devices(*device, t.device());
  };
  (detail::each_tensor(visit, args), ...);
}

}  // namespace torch_xpu

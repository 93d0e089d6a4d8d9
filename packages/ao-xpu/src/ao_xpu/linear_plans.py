"""Plans of quantized linear layers: how activations are multiplied by a weight, decided at its first call.

A plan is cached beside the data of the weight, and dropped with them: a weight that was moved, copied, sliced
or loaded has other data. A plan is in use while the attributes of the weight are the objects that it was made
from, in the same memory. It has views of these and no copies, so that it follows what is changed in place.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch._C._functorch import peek_interpreter_stack
from torch.compiler import is_compiling

from .handlers import Handler, arguments_of_linear, empty_product

# Returns the product of activations by the data of a weight, plus a bias, or NotImplemented.
Plan = Callable[[Tensor, Tensor, Tensor | None], Any]
# Returns the plan of a weight; None if torchao multiplies by it.
Planner = Callable[[Any], Plan | None]


class _Entry(NamedTuple):
    planner: Planner
    holds: Callable[[dict[str, Any]], bool]  # of the attributes of the weight
    plan: Plan | None
    data: weakref.ref[Tensor]


# By the identity of the data, which a plan must not keep alive.
_plans: dict[int, _Entry] = {}


def planned_linear(planner: Planner) -> Callable[[Handler], Handler]:
    """Return the replacement of torchao's handler of ``linear`` by one that multiplies by plans."""

    def replace(stock: Handler) -> Handler:
        def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            input, weight, bias = args if len(args) == 3 else arguments_of_linear(args, kwargs)
            if type(input) is not type(weight):
                plan = plan_of(weight, planner)
                product = NotImplemented if plan is None else plan(input, weight.qdata, bias)
                if product is not NotImplemented:
                    return product
            if weight.device.type == "xpu" and input.numel() == 0:
                return empty_product(input, weight, bias)
            return stock(func, types, args, kwargs)

        return handler

    return replace


def plan_of(weight: Any, planner: Planner) -> Plan | None:
    """Return the plan of a weight, which has attributes of its own and data ``qdata``."""
    if is_compiling():
        return planner(weight)
    data, attributes = weight.qdata, weight.__dict__
    key = id(data)
    entry = _plans.get(key)
    if entry is not None and entry.planner is planner and entry.holds(attributes):
        return entry.plan
    others = {name: value for name, value in attributes.items() if value is not data}
    if not (data.is_xpu and is_eager(data, *others.values())):
        return planner(weight)
    from torch_xpu._device import guard_attributes

    # The guard is made before attributes are read: if a thread replaces one meanwhile, it does not hold.
    holds = guard_attributes(others)
    plan = planner(weight)
    _plans[key] = _Entry(planner, holds, plan, weakref.ref(data, partial(_drop, key)))
    return plan


def _drop(key: int, _: object) -> None:
    _plans.pop(key, None)


def is_eager(*values: Any) -> bool:
    """Return False while views are those of a trace or a transform, which must not outlive it."""
    is_plain = all(type(value) is Tensor for value in values if isinstance(value, Tensor))
    is_traced = peek_interpreter_stack() is not None or torch._C._len_torch_dispatch_stack() > 0
    return is_plain and not is_traced


def scaled_activations(plan: Plan, scale: Tensor | None) -> Plan:
    """Return a plan that first multiplies activations by the scale of AWQ or SmoothQuant, if there is one."""
    if scale is None:
        return plan

    def multiply(input: Tensor, data: Tensor, bias: Tensor | None) -> Any:
        return plan((input * scale).to(input.dtype), data, bias)

    return multiply

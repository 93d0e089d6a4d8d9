"""``jax.debug.inspect_array_sharding``: calls a function with an array's sharding during compilation."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from jax._src import debugging, mesh
from jax._src.interpreters import mlir
from jax._src.sharding_impls import (
    GSPMDSharding,
    NamedSharding,
    PartitionSpec,
    ShardingContext,
    SPMDAxisContext,
    parse_flatten_op_sharding,
    replicated_hlo_sharding,
)
from jaxlib.xla_client import HloSharding

TARGET = "xpu_inspect_sharding"
"""The custom call; its configuration is the listener's number."""

_numbers = itertools.count()
_listeners: WeakValueDictionary[int, Listener] = WeakValueDictionary()


class Listener:
    """A function of a sharding, with the devices of the program that calls it."""

    def __init__(self, function: Callable[[Any], None], context: Any) -> None:
        self.function = function
        self.mesh = mesh.thread_resources.env.physical_mesh
        if isinstance(context, ShardingContext):
            self.devices = context.device_assignment
            abstract = context.abstract_mesh
            if abstract is not None:
                grid = np.array(self.devices).reshape(abstract.axis_sizes)
                self.mesh = mesh.Mesh(grid, abstract.axis_names)
        elif isinstance(context, SPMDAxisContext):
            self.mesh = context.mesh
            self.devices = context.mesh._flat_devices_tuple
        else:
            raise NotImplementedError(
                f"inspect_array_sharding where devices are unknown: {type(context).__name__}"
            )
        self.number = next(_numbers)
        _listeners[self.number] = self

    def __call__(self, sharding: HloSharding) -> None:
        """Call the function with a sharding, in terms of the mesh if there is one."""
        if self.mesh.empty:
            self.function(GSPMDSharding(self.devices, sharding))
        elif sharding.is_manual():
            self.function(NamedSharding(self.mesh, PartitionSpec()))
        else:
            spec = parse_flatten_op_sharding(sharding, self.mesh)[0]
            self.function(NamedSharding(self.mesh, spec))


def notify(number: int, sharding: HloSharding) -> None:
    """Call the listener of this number, if a program of this process has it."""
    if number in _listeners:
        _listeners[number](sharding)


def apply() -> None:
    """Register ``inspect_sharding``: over one device the callback runs while the program is traced."""
    mlir.register_lowering(debugging.inspect_sharding_p, _rule, platform="xpu", cacheable=False)


def _rule(
    ctx: mlir.LoweringRuleContext, value: Any, *, callback: Callable[[Any], None]
) -> Sequence[Any]:
    listener = Listener(callback, ctx.module_context.axis_context)
    if len(listener.devices) == 1:
        listener(replicated_hlo_sharding)
        return []
    ctx.module_context.add_keepalive(listener)
    mlir.custom_call(
        TARGET,
        result_types=[],
        operands=[value],
        backend_config=str(listener.number),
        has_side_effect=True,
    )
    return []

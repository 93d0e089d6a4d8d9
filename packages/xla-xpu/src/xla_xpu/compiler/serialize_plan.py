"""Serialize a plan to plain lists and numbers, which the plugin reads and the cache saves."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from xpu_runtime.codegen.affine import row_major

from .kernels import Kernels
from .lower import Lowerer
from .memory import ALIGNMENT
from .pending_kernel import PendingKernel
from .plan import MAX_DIMENSIONS, Buffer, Step, View, groups_of, joined


def serialize_plan(lowerer: Lowerer, kernels: Kernels) -> dict[str, Any]:
    """Serialize a program whose buffers have their memory."""
    constants = _constants(lowerer)
    numbers = {
        buffer: number for number, buffer in enumerate(b for b in lowerer.buffers if b.root is b)
    }
    return {
        "buffers": [[buffer.kind, buffer.place] for buffer in numbers],
        "constants": base64.b64encode(constants).decode(),
        "sources": kernels.sources,
        "steps": [_step(step, numbers, kernels) for step in lowerer.steps],
    }


def _constants(lowerer: Lowerer) -> bytes:
    data = bytearray()
    for buffer, array in lowerer.constants:
        data += bytes(-len(data) % ALIGNMENT)
        buffer.place = len(data)
        data += array.tobytes()
    return bytes(data)


def _kernel_fields(
    step: PendingKernel, numbers: dict[Buffer, int], kernels: Kernels
) -> dict[str, Any]:
    """Return the fields with which the plugin launches a kernel."""
    kernel = kernels.of[step]
    return {
        "source": kernels.numbers[kernels.modules[kernel.code]],
        "name": kernels.names[kernel.code],
        "groups": kernel.groups,
        "group": kernel.group,
        "bytes": sum(view.type.bytes for view in (*step.read_views(), *step.written_views())),
        "arguments": [numbers[buffer.root] for buffer in step.arguments],
        "sizes": list(kernel.sizes),
    }


def _step(step: Step, numbers: dict[Buffer, int], kernels: Kernels) -> dict[str, Any]:
    fields = {key: _field(value, numbers) for key, value in _with_min_dims(step).items()}
    if isinstance(step, PendingKernel):
        fields |= _kernel_fields(step, numbers, kernels)
    if step.bodies:
        bodies = [[_step(inner, numbers, kernels) for inner in body] for body in step.bodies]
        if step.name == "branch":
            fields["branches"] = bodies
        else:
            fields["body"] = bodies[-1]
            if len(bodies) == 2:
                fields["condition"] = bodies[0]
    return {"step": step.name, **fields}


# Steps whose views all have one shape, and steps that take contiguous arrays.
_OF_ONE_SHAPE, _CONTIGUOUS = ("copy", "fill"), ("exchange", "host_call", "buffer_call")


def _with_min_dims(step: Step) -> dict[str, Any]:
    """Return a step's fields, with views of as few dimensions as the step allows."""
    found = {key: value for key, value in step.fields.items() if isinstance(value, View)}
    if step.name in _OF_ONE_SHAPE:
        views = list(found.values())
        return step.fields | dict(zip(found, joined(views, groups_of(views)), strict=True))
    views = [*found.values(), *(v for key in _LISTS for v in _listed(step.fields.get(key)))]
    if step.name in _CONTIGUOUS:
        return {key: _each(value, _flat) for key, value in step.fields.items()}
    if step.name in _ALONG and any(len(view.shape) > MAX_DIMENSIONS for view in views):
        around = partial(_around, step.fields["dim"])
        return {key: _each(value, around) for key, value in step.fields.items()} | {"dim": 1}
    return step.fields


# Steps along one dimension; their arrays of more than MAX_DIMENSIONS are row-major.
_ALONG = ("sort", "comparison_sort", "scan", "topk", "fft")
_LISTS = ("in", "out")


def _listed(value: Any) -> list[View]:
    return [v for v in value if isinstance(v, View)] if isinstance(value, list) else []


def _each(value: Any, change: Callable[[View], View]) -> Any:
    if _listed(value):
        return [change(view) for view in value]
    return change(value) if isinstance(value, View) else value


def _flat(view: View) -> View:
    return view.with_layout((view.type.count,), (1,))


def _around(dim: int, view: View) -> View:
    """Return a view of three dimensions: those before ``dim`` joined, ``dim``, and those after it joined."""
    shape = (prod(view.shape[:dim]), view.shape[dim], prod(view.shape[dim + 1 :]))
    return view.with_layout(shape, row_major(shape))


def _field(value: Any, numbers: dict[Buffer, int]) -> Any:
    if isinstance(value, View):
        offset = value.offset * value.element.size
        strides = [
            0 if size == 1 else s for size, s in zip(value.shape, value.strides, strict=True)
        ]
        return [
            numbers[value.buffer.root],
            offset,
            value.element.runtime,
            list(value.shape),
            strides,
        ]
    if isinstance(value, list) and value and isinstance(value[0], View):
        return [_field(item, numbers) for item in value]
    return value

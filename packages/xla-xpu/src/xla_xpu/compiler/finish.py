"""A plan as plain lists and numbers: what the plugin takes, and what is saved."""

from __future__ import annotations

import base64
from typing import Any

from . import loops, memory
from .lower import Lowerer
from .plan import Buffer, Step, View

# Kernels that are compiled together: most of what a compilation costs does not depend on how many there are.
TOGETHER = 8


def finish(lowerer: Lowerer) -> dict[str, Any]:
    """The final form of what was lowered."""
    memory.merge_copies(lowerer.steps)
    total = memory.assign(lowerer.buffers, lowerer.steps)
    constants, texts = _constants(lowerer), _sources(lowerer)
    numbers = {
        buffer: number for number, buffer in enumerate(b for b in lowerer.buffers if b.root is b)
    }
    return {
        "buffers": [[buffer.kind, buffer.place] for buffer in numbers],
        "temporary_bytes": total,
        "constants": base64.b64encode(constants).decode(),
        "sources": list(dict.fromkeys(texts.values())),
        "steps": [_step(step, numbers, texts) for step in lowerer.steps],
    }


def _constants(lowerer: Lowerer) -> bytes:
    data = bytearray()
    for buffer, array in lowerer.constants:
        data += bytes(-len(data) % memory.ALIGNMENT)
        buffer.place = len(data)
        data += array.tobytes()
    return bytes(data)


def _sources(lowerer: Lowerer) -> dict[str, str]:
    """The module of each kernel's text."""
    modules: dict[str, str] = {}
    for complex in (False, True):
        texts = [t for t in lowerer.kernels if (t in lowerer.complex_kernels) == complex]
        for begin in range(0, len(texts), TOGETHER):
            group = texts[begin : begin + TOGETHER]
            named = [text.replace("NAME", lowerer.kernels[text], 1) for text in group]
            modules |= dict.fromkeys(group, loops.source(named, complex))
    return modules


def _step(step: Step, numbers: dict[Buffer, int], sources: dict[str, str]) -> dict[str, Any]:
    fields = {key: _field(value, numbers) for key, value in step.fields.items()}
    if step.name == "kernel":
        fields["source"] = sources[fields.pop("text")]
        fields["arguments"] = [[numbers[b.root], 0] for b in step.fields["arguments"]]
    if step.bodies:
        bodies = [[_step(inner, numbers, sources) for inner in body] for body in step.bodies]
        if step.name == "branch":
            fields["branches"] = bodies
        else:
            fields["body"] = bodies[-1]
            if len(bodies) == 2:
                fields["condition"] = bodies[0]
    return {"step": step.name, **fields}


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

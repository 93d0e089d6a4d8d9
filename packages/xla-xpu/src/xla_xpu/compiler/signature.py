"""What JAX's client asks about a program's parameters and results."""

from __future__ import annotations

from typing import Any

from jaxlib.mlir import ir

from .graph import Value


def values_of(
    values: list[Value], main: ir.Operation, attributes: str, shardings: list[bytes]
) -> list[list[Any]]:
    """Return type, shape, memory kind and sharding of each parameter or result."""
    kinds = ["device"] * len(values)
    if attributes in main.attributes:
        for index, each in enumerate(ir.ArrayAttr(main.attributes[attributes])):
            names = ir.DictAttr(each)
            if "mhlo.memory_kind" in names:
                kinds[index] = ir.StringAttr(names["mhlo.memory_kind"]).value
    shardings = shardings or [b""] * len(values)
    return [
        [value.type.element.pjrt, list(value.shape), kind, sharding.hex()]
        for value, kind, sharding in zip(values, kinds, shardings, strict=True)
    ]


def donated_parameters(main: ir.Operation) -> dict[int, int | None]:
    """Return the donated parameters, and the output that JAX chose for each, or None."""
    if "arg_attrs" not in main.attributes:
        return {}
    donated: dict[int, int | None] = {}
    for index, attributes in enumerate(ir.ArrayAttr(main.attributes["arg_attrs"])):
        names = ir.DictAttr(attributes)
        if "tf.aliasing_output" in names:
            donated[index] = ir.IntegerAttr(names["tf.aliasing_output"]).value
        elif "jax.buffer_donor" in names:
            donated[index] = None
    return donated

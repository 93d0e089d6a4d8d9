"""Splats: constants with one number in all elements."""

from __future__ import annotations

import numpy as np

from . import views
from .graph import Value


def is_splat(value: Value) -> bool:
    """Return True for a constant with one number in all elements, which needs no memory."""
    return value.op == "constant" and value.node.attributes["value"].size == 1  # type: ignore[union-attr]


def splat(value: Value) -> np.generic | None:
    """Return the number of a splat, also through views; None for other values."""
    while value.node and value.node.op in views.VIEWS - {"slice"}:
        value = value.node.inputs[0]
    if not is_splat(value):
        return None
    assert value.node
    return value.node.attributes["value"].reshape(-1)[0]


def counted_dimension(value: Value) -> int | None:
    """Return the dimension along which a value counts from 0, as an input of argmax does; otherwise None."""
    along = None
    while value.node and value.op == "broadcast_in_dim" and value.node.inputs[0].op == "iota":
        along = value.node.attributes["broadcast_dimensions"]
        value = value.node.inputs[0]
    if value.node is None or value.op != "iota":
        return None
    dim = value.node.attributes["iota_dimension"]
    return dim if along is None else along[dim]

"""Values of constant operations."""

from __future__ import annotations

import re

import numpy as np
from jaxlib.mlir import ir

from .types import Type

_NUMBER = re.compile(r"0x[0-9A-Fa-f]+|true|false|[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?)")


def array_of(op: ir.Operation, type: Type) -> np.ndarray:
    """Return the value of a constant operation; one element if all are equal."""
    try:
        attribute = op.attributes["value"]
    except TypeError:  # complex numbers have no class in the bindings
        return _from_text(op, type)
    numpy = type.element.numpy
    try:
        array = np.array(attribute).astype(numpy, copy=False)
    except TypeError:  # minifloats support no buffer protocol
        return _from_text(op, type)
    return array.reshape(-1)[:1] if attribute.is_splat else array


def _from_text(op: ir.Operation, type: Type) -> np.ndarray:
    text = op.get_asm(large_elements_limit=2**62)
    inside = text[text.index("dense<") + len("dense<") : text.rindex("> : ")]
    numpy = type.element.numpy
    if inside.startswith('"0x'):  # the format of long constants
        array = np.frombuffer(bytes.fromhex(inside[3:-1]), numpy)
    else:
        array = _numbers(inside, type)
    return array if len(array) == 1 else array.reshape(type.shape)


def _numbers(text: str, type: Type) -> np.ndarray:
    numpy, kind = type.element.numpy, type.element.kind
    part = np.dtype(f"f{numpy.itemsize // 2}") if kind == "complex" else numpy

    def number(word: str) -> object:
        if word in ("true", "false"):
            return word == "true"
        if word.startswith("0x") and kind in ("float", "complex"):  # the bits of a float
            bits = int(word, 16).to_bytes(part.itemsize, "little")
            return np.frombuffer(bits, part)[0]
        return int(word, 0) if kind in ("int", "uint") else float(word)

    values = [number(word) for word in _NUMBER.findall(text)]
    if kind == "complex":
        return np.array(values, part).view(numpy)
    return np.array(values, numpy) if kind == "float" else np.array(values).astype(numpy)

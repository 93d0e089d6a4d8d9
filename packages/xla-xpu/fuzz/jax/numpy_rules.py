"""Operations of floats and bools in NumPy, which compiles nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_ELEMENTWISE = {
    "add": np.add,
    "add_any": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "pow": np.power,
    "atan2": np.arctan2,
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "square": np.square,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "floor": np.floor,
    "ceil": np.ceil,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
    "not": np.logical_not,
    "is_finite": np.isfinite,
    "real": np.real,
    "imag": np.imag,
    "copy": np.asarray,
    "stop_gradient": np.asarray,
}
_OVER_DIMENSIONS = {
    "reduce_sum": np.sum,
    "reduce_prod": np.prod,
    "reduce_max": np.max,
    "reduce_min": np.min,
    "reduce_and": np.all,
    "reduce_or": np.any,
}


def rule(name: str, params: dict[str, Any], given: list[Any]) -> Callable[..., Any] | None:
    """Return what computes an operation of these operands, None if this table has nothing."""
    kinds = {each.dtype.kind for each in given}
    if name in _MOVES:
        return lambda *xs: _WITH_PARAMS[name](params, *xs)
    if not kinds <= {"f", "c", "b"} or (name in _ORDERED and "c" in kinds):
        return None
    if kinds == {"b"} and name in ("add", "mul", "max", "min", "reduce_sum"):
        return None
    if name in _OVER_DIMENSIONS:
        return lambda x: _OVER_DIMENSIONS[name](x, axis=params["axes"])
    if name in _WITH_PARAMS:
        return lambda *xs: _WITH_PARAMS[name](params, *xs)
    return _ELEMENTWISE.get(name)


_MOVES = ("broadcast_in_dim", "slice", "reshape", "transpose", "squeeze", "rev", "concatenate")
_ORDERED = (
    "max",
    "min",
    "sign",
    "lt",
    "le",
    "gt",
    "ge",
    "reduce_max",
    "reduce_min",
    "floor",
    "ceil",
)


def _broadcast(params: dict[str, Any], x: np.ndarray) -> np.ndarray:
    sizes = [1] * len(params["shape"])
    for dim, size in zip(params["broadcast_dimensions"], x.shape, strict=True):
        sizes[dim] = size
    return np.broadcast_to(x.reshape(sizes), params["shape"])


def _slice(params: dict[str, Any], x: np.ndarray) -> np.ndarray:
    steps = params["strides"] or (1,) * x.ndim
    bounds = zip(params["start_indices"], params["limit_indices"], steps, strict=True)
    return x[tuple(slice(*each) for each in bounds)]


_WITH_PARAMS: dict[str, Callable[..., Any]] = {
    "broadcast_in_dim": _broadcast,
    "slice": _slice,
    "reshape": lambda params, x: x.reshape(params["new_sizes"]),
    "transpose": lambda params, x: x.transpose(params["permutation"]),
    "squeeze": lambda params, x: np.squeeze(x, params["dimensions"]),
    "rev": lambda params, x: np.flip(x, params["dimensions"]),
    "concatenate": lambda params, *xs: np.concatenate(xs, params["dimension"]),
    "integer_pow": lambda params, x: x ** params["y"],
    "rsqrt": lambda params, x: 1 / np.sqrt(x),
    "logistic": lambda params, x: 1 / (1 + np.exp(-x)),
}

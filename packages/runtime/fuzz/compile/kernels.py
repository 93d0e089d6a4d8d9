"""Expressions on the device: whole, and one function at a time."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from library import DTYPES, Function

import xpu_runtime as xr

if TYPE_CHECKING:
    from expression import Expression

_SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, 1e-42, 3e38, 1e-20)


def inputs_of(expression: Expression) -> list[np.ndarray]:
    """Numbers of the dtype, in the type that is computed in: many common ones, some special ones."""
    rng = np.random.default_rng(expression.seed)
    host = DTYPES[expression.dtype].host
    count = int(np.prod(expression.shape))

    def reals() -> np.ndarray:
        values = rng.standard_normal(count) * rng.choice([0.1, 1, 1, 3, 30], count)
        special = rng.random(count) < 0.05
        return np.where(special, rng.choice(_SPECIAL, count), values).reshape(expression.shape)

    arrays = []
    for _ in range(expression.inputs):
        values = reals() + 1j * reals() if np.dtype(host).kind == "c" else reals()
        with np.errstate(all="ignore"):
            arrays.append(_rounded(values.astype(host), expression.dtype))
    if expression.layout == "broadcast":
        arrays[-1] = np.broadcast_to(arrays[-1][:1], expression.shape).copy()
    return arrays


@functools.cache
def _copy() -> xr.kernels.Elementwise:
    return xr.kernels.Elementwise("copied", "a0")


def _rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    if dtype not in ("f16", "bf16"):
        return values
    narrow = _on_device(values, dtype)
    wide = xr.empty(values.shape, "f32")
    _copy()(wide, [narrow])
    return wide.numpy()


def _on_device(values: np.ndarray, dtype: str) -> xr.Array:
    array = xr.from_numpy(values)
    if dtype not in ("f16", "bf16"):
        return array
    narrow = xr.empty(values.shape, dtype)
    _copy()(narrow, [array])
    return narrow


def together(expression: Expression, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Every result, out of one kernel."""
    names = expression.names()
    body = " ".join(f"T v{k} = {expression.text(k)};" for k in range(len(expression.nodes)))
    operation = xr.kernels.Elementwise(
        "expression",
        [names[k] for k in expression.results],
        inputs=expression.inputs,
        body=body,
        headers=expression.headers(),
    )
    arrays = [_on_device(values, expression.dtype) for values in inputs]
    if expression.layout == "strided":
        arrays[0] = _transposed(inputs[0], expression.dtype)
    if expression.layout == "broadcast":
        arrays[-1] = _on_device(np.ascontiguousarray(inputs[-1][:1]), expression.dtype)
    outs = [xr.empty(expression.shape, expression.dtype) for _ in expression.results]
    operation(outs, arrays)
    host = [xr.empty(expression.shape, DTYPES[expression.dtype].wide) for _ in outs]
    for wide, out in zip(host, outs, strict=True):
        _copy()(wide, [out])
    return [array.numpy() for array in host]


def _transposed(values: np.ndarray, dtype: str) -> xr.Array:
    return _on_device(np.ascontiguousarray(values.T), dtype).transpose()


@functools.cache
def _step(function: Function, kind: str) -> xr.Kernel:
    names = "xyz"[: function.arity]
    parameters = "".join(f"xpu::global<const {kind}> in_{name}, " for name in names)
    values = " ".join(f"{kind} {name} = in_{name}[i];" for name in names)
    source = (
        f"#include <xpu/{function.header}.h>\n#include <xpu/logic.h>\n#include <xpu/math.h>\n"
        f"XPU_KERNEL(1) step({parameters}xpu::global<{kind}> out, long n) {{\n"
        "  long i = xpu::global_id();\n  if (i >= n) return;\n"
        f"  {values}\n  out[i] = {function.call(*names)};\n}}\n"
    )
    return xr.compile(source).kernel("step")


def alone(function: Function, dtype: str, arguments: Sequence[np.ndarray]) -> np.ndarray:
    """One function of arrays, in the type that is computed in."""
    about = DTYPES[dtype]
    count = arguments[0].size
    out = xr.empty(count, about.wide)
    arrays = [xr.from_numpy(np.ascontiguousarray(values).reshape(-1)) for values in arguments]
    items = -(-count // 64) * 64
    xr.launch(_step(function, about.computed), items, 64, [*arrays, out, np.int64(count)])
    return out.numpy().reshape(arguments[0].shape)

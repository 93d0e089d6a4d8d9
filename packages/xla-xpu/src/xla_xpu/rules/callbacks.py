"""Rules of Python callbacks: ``pure_callback``, ``io_callback``, ``jax.debug``, ``checkify``."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import jax.interpreters.mlir as public_mlir
import numpy as np
from jax._src import callback as jax_callback
from jax._src import checkify, core, debugging, dtypes
from jax._src.interpreters import mlir
from jax._src.lib.mlir.dialects import hlo
from jax._src.sharding_impls import SdyArray, SdyArrayList

TARGET = "xpu_python_callback"
"""The custom call; its configuration is the callback's number, then ``PARTS`` if it takes parts of arrays."""

PARTS = "parts"
"""In the configuration: each device of the program calls the function with its parts of the arrays."""

_numbers = itertools.count()
_callbacks: WeakValueDictionary[int, Callback] = WeakValueDictionary()


class Callback:
    """A function of arrays. Programs find it by its number, and keep it alive."""

    def __init__(
        self, function: Callable[..., Any], results: Sequence[tuple[tuple[int, ...], Any]]
    ) -> None:
        self.function, self.results = function, results
        self.number = next(_numbers)
        _callbacks[self.number] = self

    def __call__(self, *arguments: np.ndarray) -> list[np.ndarray]:
        """Return the function's results; raise RuntimeError if shapes or dtypes are not as declared."""
        values = self.function(*arguments)
        if len(values) != len(self.results):
            raise RuntimeError(
                "Mismatched number of outputs from callback. "
                f"Expected: {len(self.results)}, Actual: {len(values)}"
            )
        arrays = [np.asarray(dtypes.canonicalize_value(np.asarray(value))) for value in values]
        for index, (array, (shape, dtype)) in enumerate(zip(arrays, self.results, strict=True)):
            for what, got, expected in (
                ("shape", array.shape, shape),
                ("dtype", array.dtype, dtype),
            ):
                if got != expected:
                    raise RuntimeError(
                        f"Incorrect output {what} for return value #{index}: "
                        f"Expected: {expected}, Actual: {got}"
                    )
        return arrays


def callback_of(number: int) -> Callback | None:
    """Return the callback of this number, or None if no program of this process has it."""
    return _callbacks.get(number)


def apply() -> None:
    """Make ``emit_python_callback`` support xpu, and register the primitives that need a rule by platform."""
    original = jax_callback.emit_python_callback
    if hasattr(original, "__wrapped__"):
        return

    def emit_python_callback(ctx: mlir.LoweringRuleContext, *args: Any, **kwargs: Any) -> Any:
        emit = _emit if tuple(ctx.module_context.platforms) == ("xpu",) else original
        return emit(ctx, *args, **kwargs)

    emit_python_callback.__wrapped__ = original  # type: ignore[attr-defined]
    jax_callback.emit_python_callback = emit_python_callback
    public_mlir.emit_python_callback = emit_python_callback
    for primitive, rule in (
        (debugging.debug_callback_p, debugging.debug_callback_lowering),
        (debugging.debug_print_p, debugging.debug_print_lowering_rule),
        (checkify.check_p, checkify.check_lowering_rule),
    ):
        mlir.register_lowering(primitive, rule, platform="xpu", cacheable=False)


def _emit(
    ctx: mlir.LoweringRuleContext,
    callback: Callable[..., Any],
    token: Any | None,
    operands: Sequence[Any],
    operand_avals: Sequence[Any],
    result_avals: Sequence[Any],
    *,
    has_side_effect: bool,
    returns_token: bool = True,
    partitioned: bool = False,
    sharding: Any | None = None,
) -> tuple[Sequence[Any], Any, None]:
    """Emit a custom call of our own, as ``emit_python_callback`` does for other platforms."""
    results = [core.physical_aval(aval) for aval in result_avals]
    wrapped = Callback(callback, [(aval.shape, np.dtype(aval.dtype)) for aval in results])
    ctx.module_context.add_keepalive(wrapped)
    types = [mlir.aval_to_ir_type(ctx.module_context, aval) for aval in result_avals]
    call = mlir.custom_call(
        TARGET,
        result_types=[hlo.TokenType.get(), *types] if token else types,
        operands=[token, *operands] if token else operands,
        backend_config=f"{wrapped.number} {PARTS}" if partitioned else str(wrapped.number),
        has_side_effect=has_side_effect,
    )
    if sharding is not None and not partitioned:
        if token and types and isinstance(sharding, SdyArrayList):
            # The list needs a sharding per result; the token is on the same device.
            of_token = SdyArray(
                mesh_shape=(),
                dim_shardings=(),
                logical_device_ids=sharding.shardings[0].logical_device_ids,
            )
            sharding = SdyArrayList((of_token, *sharding.shardings))
        mlir.set_sharding(ctx.module_context, call, sharding)
    if token:
        token, *values = call.results
        return values, token, None
    return call.results, None, None

"""Functions of the XLA FFI that users register for xpu: they are run on the host, by JAX's CPU backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax._src import ffi
from jax._src.interpreters import mlir
from jaxlib import xla_client

from .on_host import lower_on_host

# As which a function is known to the CPU backend, which may have one of the same name.
_PREFIX = "xpu."
_registered: set[str] = set()

UNREGISTERED = "xpu_unregistered_function"
"""The custom call of a function that was not there; its configuration is the function's name."""


def apply() -> None:
    """Takes what ``jax.ffi.register_ffi_target(..., platform="xpu")`` registers, before or from now on."""
    xla_client.register_custom_call_handler("xpu", _take)
    mlir.register_lowering(ffi.ffi_call_p, _rule, platform="xpu")


def _take(name: str, function: Any, platform: str, api_version: int, traits: Any) -> None:
    xla_client._xla.register_custom_call_target(
        _PREFIX + name, function, xla_client.xla_platform_names["cpu"], api_version, traits
    )
    _registered.add(name)


def _rule(ctx: mlir.LoweringRuleContext, *operands: Any, **parameters: Any) -> Sequence[Any]:
    name = parameters["target_name"]
    if name not in _registered:
        # As on every platform, the program can be made, and looked at, before there is a function.
        return mlir.custom_call(
            UNREGISTERED,
            result_types=[mlir.aval_to_ir_type(ctx.module_context, aval) for aval in ctx.avals_out],
            operands=operands,
            backend_config=name,
            has_side_effect=True,
        ).results
    parameters["target_name"] = _PREFIX + name
    return lower_on_host(
        ctx,
        f"ffi {name} (host)",
        lambda *x: ffi.ffi_call_p.bind(*x, **parameters),
        operands,
        parameters["has_side_effect"],
    )

"""Functions that host steps call: programs for JAX's CPU backend, and Python callbacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar

import numpy as np
from jax._src import core
from jax._src.sharding_impls import SingleDeviceSharding
from jaxlib import _jax, lapack, xla_client

from ..rules.buffer_callbacks import buffer_callback_of
from ..rules.callbacks import callback_of
from . import foreign
from .failures import Invalid
from .types import ELEMENTS

T = TypeVar("T")
Arrays = list[np.ndarray]
HostFunction = Callable[[list[memoryview], list[memoryview]], None]


def function_of(step: dict[str, Any]) -> Callable[..., None]:
    """Return the function that a step calls; raise Invalid if this process does not have it."""
    if step["step"] == "buffer_call":
        return _require(buffer_callback_of(step["callback"]))
    if "foreign" in step:
        foreign.name_of(step["foreign"])
    return _on_host(step)


def _on_host(step: dict[str, Any]) -> HostFunction:
    """Return a function of the memory of operands and results."""
    call = _program(step["program"]) if "program" in step else _callback(step["callback"])
    inputs, results = step["inputs"], step["results"]

    def run(given: list[memoryview], taken: list[memoryview]) -> None:
        values = call(_arrays(inputs, given))
        for array, value in zip(_arrays(results, taken), values, strict=True):
            np.copyto(array, value)

    return run


def _arrays(types: Sequence[tuple[str, list[int]]], memory: list[memoryview]) -> Arrays:
    """Return arrays that share the memory, in the order of ``types``."""
    pairs = zip(types, memory, strict=True)
    return [
        np.ndarray(shape, ELEMENTS[name].numpy, view if view.nbytes else None)
        for (name, shape), view in pairs
    ]


def _callback(number: int) -> Callable[[Arrays], Any]:
    callback = _require(callback_of(number))
    # The function may keep its arguments, so it gets copies.
    return lambda arrays: callback(*(array.copy() for array in arrays))


def _require(callback: T | None) -> T:
    """Return the callback; raise Invalid if this process does not have it."""
    if callback is None:
        raise Invalid(
            "the program calls a Python function that this process does not have: "
            "programs with callbacks cannot be saved; compile this one where it is traced"
        )
    return callback


@lru_cache(256)
def _program(text: str) -> Callable[[Arrays], Any]:
    client = _client()
    device = client.devices()[0]
    executable = client.compile_and_load(
        text.encode(), xla_client.DeviceList((device,)), xla_client.CompileOptions()
    )
    sharding = SingleDeviceSharding(device)

    def run(arrays: Arrays) -> list[np.ndarray]:
        given = [
            _jax.batched_device_put(
                core.ShapedArray(array.shape, array.dtype),
                sharding,
                [array],
                [device],
                enable_x64=True,
            )
            for array in arrays
        ]
        return [np.asarray(result) for result in executable.execute(given)]

    return run


@lru_cache
def check_options(options: tuple[tuple[str, Any], ...]) -> None:
    """Raise Invalid for compiler options or values that XLA does not have; ignore all others.

    XLA's CPU compiler checks the options first, so a trivial program finds the error.
    """
    client = _client()
    devices = xla_client.DeviceList((client.devices()[0],))
    for name, value in options:
        wanted = xla_client.CompileOptions()
        wanted.env_option_overrides = [(name, value)]
        try:
            client.compile_and_load(_NOTHING, devices, wanted)
        except xla_client.XlaRuntimeError as error:
            message = str(error)
            if message.startswith(_WRONG_OPTION):
                raise Invalid(message.removeprefix(_WRONG_OPTION)) from None


_WRONG_OPTION = "INVALID_ARGUMENT: "
_NOTHING = b"""
module @nothing {
  func.func public @main() -> tensor<i1> {
    %0 = stablehlo.constant dense<true> : tensor<i1>
    return %0 : tensor<i1>
  }
}
"""


@cache
def _client() -> Any:
    """Create a CPU client of our own, because JAX's CPU backend may be disabled."""
    lapack._lapack.initialize()
    return xla_client.make_cpu_client(asynchronous=False)

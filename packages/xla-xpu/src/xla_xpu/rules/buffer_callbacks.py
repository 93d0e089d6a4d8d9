"""Rule of ``jax.experimental.buffer_callback``: Python functions of arrays in device memory.

The host waits neither before nor after a call: work that the function enqueues on the current stream keeps
its place in the program. Only arrays that it converts to NumPy are copied.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import xpu_runtime
from jax._src import core, tree_util
from jax._src.interpreters import mlir

from .. import _plugin
from .._dlpack import CPU, ONEAPI, type_of
from .import_hook import call_on_import

TARGET = "xpu_buffer_callback"
"""The custom call; its configuration is the callback's number, and ``input:output`` pairs."""

Aval = tuple[tuple[int, ...], np.dtype]
_numbers = itertools.count()
_callbacks: WeakValueDictionary[int, BufferCallback] = WeakValueDictionary()


class Buffer:
    """An array in device memory, valid until the callback that got it returns."""

    def __init__(self, address: int, aval: Aval, device: int, writeable: bool) -> None:
        self.shape, self.dtype = aval
        self.writeable = writeable
        self._address, self._device = address, device
        self._copy: np.ndarray | None = None
        self._is_exported = self._is_expired = False

    @property
    def ndim(self) -> int:
        """Number of dimensions; 0 for a scalar."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"Buffer({self.dtype.name}{list(self.shape)} on xpu:{self._device})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Return a copy in host memory; a result's copy goes to the device when the callback returns."""
        self._check()
        if copy is False:
            raise ValueError(
                f"{self} is in device memory: no NumPy array of it exists without a copy"
            )
        if self._is_exported and self.writeable:
            raise BufferError(
                f"{self} was exported by DLPack, so it cannot become a NumPy array too"
            )
        if self._copy is None:
            self._copy = np.empty(self.shape, self.dtype)
            if self._copy.nbytes:
                here = self._copy.ctypes.data
                _plugin.copy(self._device, here, self._address, self._copy.nbytes)
            self._copy.flags.writeable = self.writeable
        return self._copy if dtype is None else self._copy.astype(dtype, copy=False)

    def __dlpack_device__(self) -> tuple[int, int]:
        return ONEAPI, self._device

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a capsule of the memory itself. ``stream`` is not needed: see ``xla_xpu._dlpack.export``."""
        self._check()
        here = self.__dlpack_device__()
        if dl_device is not None and tuple(dl_device) == (CPU, 0) and copy is not False:
            return self.__array__().__dlpack__(max_version=max_version)
        if copy or (dl_device is not None and tuple(dl_device) != here):
            raise BufferError(f"{self} can only be exported on its own device and without a copy")
        return _plugin.to_unowned_dlpack(
            self._export(), self.shape, *type_of(self.dtype), self._device
        )

    def address_for(self, stream: xpu_runtime.Stream) -> tuple[int, int]:
        """Return address and device for a launch on the stream, which waits for the program so far.

        If it is not the program's stream, the callback must let that wait for the launch.
        """
        address = self._export()
        if stream.device == self._device:
            stream.wait(xpu_runtime.current_stream(self._device))
        return address, self._device

    def _export(self) -> int:
        """Return the address of the memory, which from now on changes without this object."""
        self._check()
        if self._copy is not None and self.writeable:
            raise BufferError(
                f"{self} was already converted to a NumPy array and cannot be exported too"
            )
        self._is_exported = True
        return self._address

    def _check(self) -> None:
        if self._is_expired:
            raise RuntimeError(f"{self}: the callback that it was given to has ended")

    def _expire(self) -> None:
        self._is_expired = True

    def _write_back(self) -> None:
        if self.writeable and self._copy is not None and self._copy.nbytes:
            _plugin.copy(self._device, self._address, self._copy.ctypes.data, self._copy.nbytes)


class ExecutionContext:
    """The stage and the stream that a callback gets as its first argument."""

    def __init__(self, stage: Any, device: int) -> None:
        self.stage = stage
        self._device = device

    @property
    def stream(self) -> int:
        """The address of the ``sycl::queue`` on which the program runs."""
        return xpu_runtime.current_stream(self._device).queue_pointer


class BufferCallback:
    """A function of buffers. Programs find it by its number, and keep it alive."""

    def __init__(
        self, function: Callable[..., Any], stage: Any, given: list[Aval], taken: list[Aval]
    ) -> None:
        self.function, self.stage, self.given, self.taken = function, stage, given, taken
        self.number = next(_numbers)
        _callbacks[self.number] = self

    def __call__(self, device: int, given: list[int], taken: list[int]) -> None:
        """Call the function with buffers at these addresses."""
        inputs = [Buffer(a, aval, device, False) for a, aval in zip(given, self.given, strict=True)]
        results = [Buffer(a, aval, device, True) for a, aval in zip(taken, self.taken, strict=True)]
        try:
            self.function(ExecutionContext(self.stage, device), results, inputs)
            for buffer in results:
                buffer._write_back()
        finally:
            for buffer in (*inputs, *results):
                buffer._expire()


def buffer_callback_of(number: int) -> BufferCallback | None:
    """Return the callback of this number, or None if no program of this process has it."""
    return _callbacks.get(number)


def apply() -> None:
    """Register the primitive once JAX imports it."""
    call_on_import("jax._src.buffer_callback", _register)


def _register(module: Any) -> None:
    def rule(
        ctx: mlir.LoweringRuleContext,
        *operands: Any,
        callback: Callable[..., Any],
        in_tree: Any,
        out_tree: Any,
        has_side_effect: bool,
        input_output_aliases: Sequence[tuple[int, int]],
        **_: Any,
    ) -> Sequence[Any]:
        def function(context: Any, results: list[Buffer], inputs: list[Buffer]) -> None:
            arguments, named = tree_util.tree_unflatten(in_tree, inputs)
            taken = tree_util.tree_unflatten(out_tree, results)
            if callback(context, taken, *arguments, **named) is not None:
                raise ValueError("buffer_callback callback must not return any values.")

        stage = module.ExecutionStage.EXECUTE
        wrapped = BufferCallback(function, stage, _avals(ctx.avals_in), _avals(ctx.avals_out))
        ctx.module_context.add_keepalive(wrapped)
        same = (f"{given}:{taken}" for given, taken in input_output_aliases)
        return mlir.custom_call(
            TARGET,
            result_types=[mlir.aval_to_ir_type(ctx.module_context, aval) for aval in ctx.avals_out],
            operands=operands,
            backend_config=" ".join([str(wrapped.number), *same]),
            has_side_effect=has_side_effect,
        ).results

    mlir.register_lowering(module.buffer_callback_p, rule, platform="xpu")


def _avals(avals: Sequence[Any]) -> list[Aval]:
    physical = map(core.physical_aval, avals)
    return [(tuple(aval.shape), np.dtype(aval.dtype)) for aval in physical]

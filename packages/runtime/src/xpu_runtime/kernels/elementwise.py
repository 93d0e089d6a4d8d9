"""Kernels written once for every framework: fill, copy, elementwise and reduction, over strided arrays."""

from __future__ import annotations

from collections.abc import Sequence

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array

Scalar = bool | int | float | complex


class Elementwise:
    """An operation given by C++ expressions in the device library's language.

    An expression may use the inputs ``a0``, ``a1``, … converted to ``T``, the arithmetic type of the
    compute dtype (float for f16, bf16 and fp8); the scalars ``p0``, … as ``T``; and, with
    ``uses_index``, the row-major ``index`` of the element. Inputs listed in ``own_type`` keep their
    own arithmetic type. ``body`` holds statements before the expressions, ``helpers`` functions.

    >>> axpy = Elementwise("axpy", "p0 * a0 + a1", inputs=2, scalars=1)
    >>> axpy(out, [x, y], [2.0])
    """

    def __init__(
        self,
        name: str,
        outputs: str | Sequence[str],
        *,
        inputs: int = 1,
        scalars: int = 0,
        body: str = "",
        headers: Sequence[str] = ("math",),
        helpers: str = "",
        own_type: Sequence[int] = (),
        uses_index: bool = False,
    ) -> None:
        expressions = [outputs] if isinstance(outputs, str) else list(outputs)
        kept = sum(1 << i for i in set(own_type))
        self._op = C.Elementwise(
            name, expressions, inputs, scalars, body, list(headers), helpers, kept, uses_index
        )

    def __call__(
        self,
        outputs: Array | Sequence[Array],
        inputs: Sequence[Array] = (),
        scalars: Sequence[Scalar] = (),
        compute: str | None = None,
        stream: Stream | None = None,
    ) -> None:
        """Queues the operation. Inputs broadcast to the outputs' shape; any strides and dtypes.

        ``compute`` is the dtype that arithmetic is done in; by default what the inputs promote to.
        """
        written = _listed(outputs)
        self._op(stream or current_stream(written[0].device), written, inputs, scalars, compute)

    def source(
        self,
        outputs: Array | Sequence[Array],
        inputs: Sequence[Array] = (),
        compute: str | None = None,
    ) -> str:
        """The kernel source such a call would use."""
        written = _listed(outputs)
        return self._op.source(written[0].device, written, inputs, compute)


def _listed(arrays: Array | Sequence[Array]) -> list[Array]:
    return [arrays] if isinstance(arrays, Array) else list(arrays)


def copy(dst: Array, src: Array, stream: Stream | None = None) -> None:
    """Queues ``dst = src`` between any strides and dtypes; ``src`` broadcasts."""
    C.copy_strided(stream or current_stream(dst.device), dst, src)


def fill(dst: Array, value: Scalar, stream: Stream | None = None) -> None:
    """Queues ``dst = value``."""
    C.fill(stream or current_stream(dst.device), dst, value)


def promote(a: str, b: str) -> str:
    """The dtype that PyTorch promotes arrays of two dtypes to."""
    return C.promote(a, b)

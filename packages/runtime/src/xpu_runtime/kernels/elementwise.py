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
    ``uses_index``, the row-major ``index`` of the element. Inputs listed in ``unconverted_inputs`` keep their
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
        unconverted_inputs: Sequence[int] = (),
        uses_index: bool = False,
    ) -> None:
        mask = sum(1 << i for i in set(unconverted_inputs))
        self._op = C.Elementwise(
            name, _texts(outputs), inputs, scalars, body, list(headers), helpers, mask, uses_index
        )

    def __call__(
        self,
        outputs: Array | Sequence[Array],
        inputs: Sequence[Array] = (),
        scalars: Sequence[Scalar] = (),
        compute: str | None = None,
        stream: Stream | None = None,
    ) -> None:
        """Enqueue the operation. Inputs broadcast to the outputs' shape; any strides and dtypes.

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
        """Return the kernel source such a call would use."""
        written = _listed(outputs)
        return self._op.source(written[0].device, written, inputs, compute)


class Reduction:
    """A reduction given by C++ expressions, over any dimensions, with one accumulator or several.

    ``accumulators`` are pairs of a C++ type (``T``: the arithmetic type, ``Position``: that of
    ``index``) and an identity. ``map`` gives the accumulators of one element from ``a0``, …, ``index``
    and ``p0``, …; ``combine`` is statements that bring ``r0``, … into ``s0``, …; ``outputs`` are
    expressions of ``s0``, … and ``count``. ``update``, in place of ``map``, is statements that bring
    one element into ``s0``, ….

    >>> largest = Reduction("largest", [("T", "0")], "xpu::abs(a0)", "s0 = xpu::maximum(s0, r0);", "s0")
    >>> largest(out, x, dims=[-1])
    """

    def __init__(
        self,
        name: str,
        accumulators: Sequence[tuple[str, str]],
        map: str | Sequence[str],
        combine: str,
        outputs: str | Sequence[str],
        *,
        update: str = "",
        inputs: int = 1,
        scalars: int = 0,
        headers: Sequence[str] = ("math",),
        helpers: str = "",
        unconverted_inputs: Sequence[int] = (),
        uses_index: bool = False,
    ) -> None:
        mask = sum(1 << i for i in set(unconverted_inputs))
        self._op = C.Reduction(
            name, list(accumulators), _texts(map), combine, _texts(outputs), update, inputs, scalars,
            list(headers), helpers, mask, uses_index,
        )  # fmt: skip

    @classmethod
    def _standard(cls, name: str) -> Reduction:
        made = cls.__new__(cls)
        made._op = C.reduction(name)
        return made

    def __call__(
        self,
        outputs: Array | Sequence[Array],
        inputs: Array | Sequence[Array],
        dims: int | Sequence[int] | None = None,
        scalars: Sequence[Scalar] = (),
        compute: str | None = None,
        stream: Stream | None = None,
    ) -> None:
        """Enqueue the reduction over ``dims`` (None: all of them).

        The outputs' shape is that of the first input with the reduced dimensions left out or 1.
        """
        written, read = _listed(outputs), _listed(inputs)
        stream = stream or current_stream(written[0].device)
        self._op(stream, written, read, _dims(dims, read[0]), scalars, compute)

    def source(
        self,
        outputs: Array | Sequence[Array],
        inputs: Array | Sequence[Array],
        dims: int | Sequence[int] | None = None,
        compute: str | None = None,
    ) -> str:
        """Return the kernel source such a call would use."""
        written, read = _listed(outputs), _listed(inputs)
        return self._op.source(written[0].device, written, read, _dims(dims, read[0]), compute)


def _dims(dims: int | Sequence[int] | None, array: Array) -> list[int]:
    if dims is None:
        return list(range(len(array.shape)))
    return [dims] if isinstance(dims, int) else list(dims)


def _texts(expressions: str | Sequence[str]) -> list[str]:
    return [expressions] if isinstance(expressions, str) else list(expressions)


def _listed(arrays: Array | Sequence[Array]) -> list[Array]:
    return [arrays] if isinstance(arrays, Array) else list(arrays)


def copy(dst: Array, src: Array, stream: Stream | None = None) -> None:
    """Enqueue ``dst = src`` between any strides and dtypes; ``src`` broadcasts."""
    C.copy_strided(stream or current_stream(dst.device), dst, src)


def fill(dst: Array, value: Scalar, stream: Stream | None = None) -> None:
    """Enqueue ``dst = value``."""
    C.fill(stream or current_stream(dst.device), dst, value)


def reduce(
    name: str,
    outputs: Array | Sequence[Array],
    inputs: Array | Sequence[Array],
    dims: int | Sequence[int] | None = None,
    scalars: Sequence[Scalar] = (),
    compute: str | None = None,
    stream: Stream | None = None,
) -> None:
    """Enqueue one of :func:`reductions`: ``reduce("sum", out, x, dims=[0])``."""
    Reduction._standard(name)(outputs, inputs, dims, scalars, compute, stream)


def reductions() -> list[str]:
    """Return the names that :func:`reduce` knows."""
    return C.reduction_names()


def promote(a: str, b: str) -> str:
    """Return the dtype that PyTorch promotes arrays of two dtypes to."""
    return C.promote(a, b)

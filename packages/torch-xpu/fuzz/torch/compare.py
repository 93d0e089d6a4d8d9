"""Whether two results agree, beside a reference of more digits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from xpu_testing.float_formats import FloatFormat, format_of
from xpu_testing.fuzzing import Difference
from xpu_testing.judge import describe, element_texts, wrong_elements


@dataclass(frozen=True)
class Finer:
    """One result in double precision, and with rounding errors in each step (``trials``)."""

    exact: torch.Tensor
    trials: Sequence[torch.Tensor]


@dataclass(frozen=True)
class Promise:
    """What a result promises: ``steps`` of the format at the element, or at ``around`` if that is larger."""

    steps: float
    around: float
    exact: bool
    eps: float = 0.0

    def of_format(self, dtype: torch.dtype) -> FloatFormat:
        """Return the dtype's format, with steps of ``eps`` if they are larger."""
        about = format_of(dtype)
        assert about is not None
        eps = max(about.epsilon, self.eps)
        return FloatFormat(about.name, eps, about.smallest, about.largest, about.step_error)


def wrong_beside(expected: torch.Tensor, got: torch.Tensor, promise: Promise) -> np.ndarray:
    """Return where a result is not that of the CPU, within the steps that are allowed."""
    dtype = expected.dtype
    if promise.exact or not (dtype.is_floating_point or dtype.is_complex):
        bad = _bits(expected) != _bits(got)
        if dtype.is_complex:
            bad = (bad & ~(_parts(expected).isnan() & _parts(got).isnan())).any(-1)
        elif dtype.is_floating_point:
            bad &= ~(expected.isnan() & got.isnan())
        return bad.numpy()
    about = promise.of_format(dtype)
    return wrong_elements(wide(got), wide(expected), [], about, promise.steps, promise.around)


def wrong_beside_finer(
    expected: torch.Tensor, got: torch.Tensor, promise: Promise, finer: Finer
) -> np.ndarray:
    """Return where a result is wrong beside the finer one.

    A result is right, too, that is three times as far from it as the CPU's.
    """
    about = promise.of_format(expected.dtype)
    a, exact = wide(expected), wide(finer.exact)
    with np.errstate(all="ignore"):
        own = np.abs(a - exact)
    own = 3 * np.where(np.isfinite(own), own, 0.0)
    trials = [wide(each) for each in finer.trials]
    return wrong_elements(wide(got), exact, trials, about, promise.steps, promise.around, own)


def difference(
    where: str,
    bad: np.ndarray,
    expected: torch.Tensor,
    got: torch.Tensor,
    operands: Sequence[torch.Tensor],
) -> Difference:
    """Return the difference, with each wrong element and the operands at its place."""
    texts = element_texts(bad, got, expected)
    for number, at in enumerate(map(tuple, np.argwhere(bad))):
        if operands:
            texts[number] += ", of " + ", ".join(repr(each[at].item()) for each in operands)
    found = [f"{where}: {text}" for text in texts]
    return Difference(f"{where}: {describe(bad, texts)}", found)


def wide(x: torch.Tensor) -> np.ndarray:
    """Return a tensor's elements in double precision."""
    if x._is_zerotensor():
        x = x.clone()  # has memory; a gradient that is zero everywhere may have none
    return x.resolve_conj().to(torch.complex128 if x.is_complex() else torch.float64).numpy()


def _parts(x: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(x.resolve_conj().to(torch.complex128))


def _bits(x: torch.Tensor) -> torch.Tensor:
    if x.is_complex():
        return torch.view_as_real(x.resolve_conj()).contiguous().view(_INTEGER[x.real.dtype])
    if x.is_floating_point():
        return x.contiguous().view(_INTEGER[x.dtype])
    return x


_INTEGER = {
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float32: torch.int32,
    torch.float64: torch.int64,
}

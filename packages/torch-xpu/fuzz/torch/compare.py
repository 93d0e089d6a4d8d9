"""Whether two results agree."""

from __future__ import annotations

import torch

NARROW = (torch.float16, torch.bfloat16, torch.float32, torch.complex64)


def differing(
    expected: torch.Tensor,
    got: torch.Tensor,
    steps: float,
    scale: float,
    exact: bool,
    eps: float = 0.0,
    finer: torch.Tensor | None = None,
) -> str:
    """Return a description of the difference, or an empty string.

    ``steps`` of the dtype, of size ``eps`` at least, are allowed at ``scale`` or at the element.
    ``finer`` is the expected result of more digits: a result three times as far from it as the
    reference is right too.
    """
    dtype = expected.dtype
    if exact or not (dtype.is_floating_point or dtype.is_complex):
        bad = _bits(expected) != _bits(got)
        if dtype.is_complex:
            bad = (bad & ~(_parts(expected).isnan() & _parts(got).isnan())).any(-1)
        elif dtype.is_floating_point:
            bad &= ~(expected.isnan() & got.isnan())
        return _describe(bad, expected, got)
    info = torch.finfo(dtype)
    eps = max(eps, info.eps)
    a, b = _parts(expected), _parts(got)
    allowed = eps * steps * torch.clamp(_size(a, dtype), min=scale) + info.tiny
    bad = ~(((a - b).abs() <= allowed) | (a == b) | (a.isnan() & b.isnan()))
    bad &= ~_about_the_largest(a, b, info.max)
    if finer is not None and finer.shape == expected.shape and bad.any():
        c = _parts(finer)
        off = 3 * torch.nan_to_num((a - c).abs(), nan=0.0, posinf=0.0)
        if scale:
            off = off.max().expand_as(off)
        allowed = off + eps * steps * torch.clamp(_size(c, dtype), min=scale) + info.tiny
        right = ((b - c).abs() <= allowed) | (b == c) | (b.isnan() & c.isnan())
        bad &= ~(right | _about_the_largest(b, c, info.max))
    if dtype.is_complex:
        bad = bad.any(-1)
    return _describe(bad, expected, got)


def _parts(x: torch.Tensor) -> torch.Tensor:
    return (
        torch.view_as_real(x.resolve_conj().to(torch.complex128)) if x.is_complex() else x.double()
    )


def _size(parts: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    size = torch.nan_to_num(parts.abs(), nan=0.0, posinf=0.0)
    return (
        size.amax(-1, keepdim=True).expand_as(parts) if dtype.is_complex and size.numel() else size
    )


def _about_the_largest(a: torch.Tensor, b: torch.Tensor, largest: float) -> torch.Tensor:
    """One has gone over the largest number and the other is just below it."""
    near = largest * 0.98
    return (a.abs() >= near) & (b.abs() >= near) & (a.sign() == b.sign())


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


def _describe(bad: torch.Tensor, expected: torch.Tensor, got: torch.Tensor) -> str:
    if not bad.any():
        return ""
    at = bad.nonzero()[0].tolist()
    where = at[: expected.dim()]
    a, b = (x[tuple(where)].item() for x in (expected, got))
    return f"{int(bad.sum())} of {bad.numel()} differ, first at {where}: {b!r}, expected {a!r}"

"""Judge compiled results beside eager ones, as the accuracy mode of PyTorch's benchmarks does.

The reference is computed in float64 on the CPU. Compiled results pass if they are close to the eager
ones, or if their error is at most a small multiple of the eager error, plus a tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch._dynamo.utils import same

# Values of a group below this part of its largest are noise of cancellation, such as the gradient of a
# bias before a batch norm: their errors are taken relative to the group.
NOISE = 1e-3


def tolerance(is_training: bool, is_float32: bool) -> float:
    """Return the tolerance of PyTorch's suites of models."""
    return 1e-3 if is_float32 and not is_training else 1e-2


def differences(
    compiled: Mapping[str, torch.Tensor],
    eager: Mapping[str, torch.Tensor],
    exact: Mapping[str, torch.Tensor],
    tol: float,
) -> list[str]:
    """Return what differs too much in a group of tensors: its names, and sizes of errors."""
    if compiled.keys() != eager.keys() or eager.keys() != exact.keys():
        return [f"names: {sorted(compiled)}, expected {sorted(exact)}"]
    largest = max((_magnitude(tensor) for tensor in exact.values()), default=0.0)
    found = []
    for name, reference in exact.items():
        if reference.is_floating_point():
            reference = reference.double()
        ours, theirs = compiled[name], eager[name]
        if ours.shape != reference.shape or ours.dtype != theirs.dtype:
            found.append(f"{name}: {ours.dtype} {tuple(ours.shape)}")
            continue
        scale = _scale(max(_magnitude(reference), NOISE * largest))
        messages: list[str] = []
        if not same(
            theirs * scale if theirs.is_floating_point() else theirs,
            ours * scale if ours.is_floating_point() else ours,
            reference * scale if reference.is_floating_point() else reference,
            tol=tol,
            equal_nan=True,
            log_error=lambda text, *values, to=messages: to.append(text % values),
        ):
            found.append(f"{name}: {messages[-1].partition(', use_larger')[0]}")
    return found


def _magnitude(tensor: torch.Tensor) -> float:
    """Return the root of the mean square."""
    if not tensor.is_floating_point() or not tensor.numel():
        return 0.0
    return tensor.detach().double().square().mean().sqrt().item()


def _scale(magnitude: float) -> float:
    """Return the power of two that brings a magnitude near 1: the product with it is exact."""
    return 2.0 ** -round(math.log2(magnitude)) if 0 < magnitude < math.inf else 1.0

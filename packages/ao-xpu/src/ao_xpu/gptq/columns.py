"""The loop of GPTQ: columns are quantized one by one, and those after a column make up for its error."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def quantize_columns(
    hessian: Tensor,
    weight: Tensor,
    group: int,
    choose: Callable[[Tensor], tuple[Tensor, Tensor]],
    round_number: Callable[[Tensor], Tensor],
    damping: float,
    block: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return numbers [N, K], and the scales and minima [N, K / group] that ``choose`` gives.

    ``round_number`` rounds a column in units of its scale to the numbers of the format.
    """
    rest = weight.float().clone()
    factor, is_dead = _inverse_factor(hessian, damping)
    rest[:, is_dead] = 0
    numbers = torch.empty_like(rest)
    parameters: list[tuple[Tensor, Tensor]] = []
    columns = rest.shape[1]
    for begin in range(0, columns, block):
        end = min(begin + block, columns)
        errors = torch.zeros_like(rest[:, begin:end])
        for k in range(begin, end):
            if k % group == 0:
                # Errors of this block have reached its own columns only; a group may be longer than it.
                ahead = rest[:, end : k + group] - errors @ factor[begin:end, end : k + group]
                parameters.append(choose(torch.cat((rest[:, k : min(end, k + group)], ahead), 1)))
            scale, minimum = parameters[-1]
            column = rest[:, k : k + 1]
            number = round_number((column - minimum) / scale)
            numbers[:, k : k + 1] = number
            error = (column - (number * scale + minimum)) / factor[k, k]
            rest[:, k:end] -= error * factor[k, k:end]
            errors[:, k - begin : k - begin + 1] = error
        rest[:, end:] -= errors @ factor[begin:end, end:]
    scales, minima = (torch.cat(parts, 1) for parts in zip(*parameters, strict=True))
    return numbers, scales, minima


def _inverse_factor(hessian: Tensor, damping: float) -> tuple[Tensor, Tensor]:
    """Return the upper Cholesky factor of the damped inverse, and which inputs were always zero."""
    matrix = hessian.float().clone()
    diagonal = matrix.diagonal()
    is_dead = diagonal == 0
    diagonal.masked_fill_(is_dead, 1)
    diagonal.add_(damping * diagonal.mean())
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(matrix))
    return torch.linalg.cholesky(inverse, upper=True), is_dead

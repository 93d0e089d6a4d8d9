"""Evaluation of operators on the CPU with rounding errors in each of their steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from xpu_testing.float_formats import FloatFormat
from xpu_testing.noise import Noise

# Steps that move or choose elements round nothing.
_EXACT = frozenset(
    """
    abs alias amax amin argmax argmin as_strided cat ceil clamp clamp_max clamp_min clone complex
    constant_pad_nd copy copy_ copysign detach diagonal embedding empty_strided expand fill fill_ flip floor
    fmax fmin full full_like gather index index_select masked_fill max maximum max_pool2d_with_indices
    max_pool3d_with_indices min minimum neg new_zeros ones_like permute reflection_pad1d relu repeat
    replication_pad1d roll round scatter select sgn sign slice sort stack topk tril triu trunc unsqueeze view
    where zero_ zeros zeros_like _to_copy _conj _neg_view masked_select masked_scatter take
    """.split()  # noqa: SIM905
)


class RoundingErrors(TorchDispatchMode):
    """Puts noise into what each operator returns or writes, also during the backward pass."""

    def __init__(self, noise: Noise, about: FloatFormat) -> None:
        super().__init__()
        self._noise, self._about = noise, about

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        name = function._schema.name.removeprefix("aten::")
        if name in _EXACT:
            return result
        returns = function._schema.returns
        if any(r.alias_info is not None and not r.alias_info.is_write for r in returns):
            return result  # a view
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                add_noise(leaf, self._noise, self._about)
        return result


def add_noise(tensor: torch.Tensor, noise: Noise, about: FloatFormat) -> None:
    """Change the elements of a tensor of double precision by as much as the format's operations may lose."""
    if tensor.dtype not in (torch.float64, torch.complex128) or not tensor.numel():
        return
    values = tensor.detach().resolve_conj().resolve_neg()
    tensor.detach().copy_(torch.from_numpy(np.asarray(noise.rounded(values.numpy(), about))))

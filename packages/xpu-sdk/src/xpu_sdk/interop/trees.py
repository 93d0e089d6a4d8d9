"""Trees of tensors as trees of arrays, and the reverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import torch


def to_jax(tree: Any) -> Any:
    """Return the tree with each tensor as an array in the same memory, or a copy if not contiguous."""
    return _mapped(torch.Tensor, _array, tree)


def to_torch(tree: Any) -> Any:
    """Return the tree with each array as a tensor in the same memory."""
    return _mapped(jax.Array, _tensor, tree)


def is_inexact(leaf: Any) -> bool:
    """Return True if a leaf, of either framework or of none, is of a type that has gradients."""
    if isinstance(leaf, torch.Tensor):
        return leaf.is_floating_point() or leaf.is_complex()
    return jnp.issubdtype(jnp.result_type(leaf), jnp.inexact)


def _mapped(kind: type, change: Callable, tree: Any) -> Any:
    return jax.tree.map(lambda leaf: change(leaf) if isinstance(leaf, kind) else leaf, tree)


def _array(tensor: torch.Tensor) -> jax.Array:
    # DLPack has no mark for a conjugate or a negative that PyTorch has not computed yet.
    return jax.dlpack.from_dlpack(tensor.detach().resolve_conj().resolve_neg().contiguous())


def _tensor(array: jax.Array) -> torch.Tensor:
    if isinstance(array, jax.core.Tracer):
        raise TypeError(
            "PyTorch cannot run inside of jax.jit, vmap or scan: call it outside of them"
        )
    return torch.from_dlpack(array)

"""PyTorch and JAX in one program: each can call and differentiate functions of the other.

Tensors and arrays share memory, and no call waits; only tensors that are not contiguous are copied. Arguments
and results are trees: arrays and tensors in tuples, lists and dicts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch


def to_jax(tree: Any) -> Any:
    """Return the tree with each tensor as an array in the same memory, or a copy if not contiguous."""
    return _mapped(torch.Tensor, lambda t: jax.dlpack.from_dlpack(t.detach().contiguous()), tree)


def to_torch(tree: Any) -> Any:
    """Return the tree with each array as a tensor in the same memory."""
    return _mapped(jax.Array, _tensor, tree)


def torch_function(function: Callable) -> Callable:
    """Wrap a function of JAX as a function of tensors, through which PyTorch differentiates.

    JAX compiles it, and its derivative, once for all tensors of the same shapes.
    """
    plain = jax.jit(function)
    forward = jax.jit(functools.partial(jax.vjp, function))

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        leaves, inputs = jax.tree.flatten(arguments)
        if not (torch.is_grad_enabled() and any(map(_needs_gradient, leaves))):
            return to_torch(plain(*to_jax(arguments)))
        shape = _Call(forward, inputs)
        results = _JaxFunction.apply(shape, *leaves)  # type: ignore[no-untyped-call]
        return jax.tree.unflatten(shape.outputs, results)

    return call


def jax_function(function: Callable) -> Callable:
    """Wrap a function of PyTorch as a function of arrays, through which JAX differentiates.

    It runs eagerly, so not inside of ``jit``. Gradients are those of its arguments; with
    ``torch.func.functional_call`` the parameters of a module can be arguments.
    """

    @jax.custom_vjp
    def call(*arguments: Any) -> Any:
        with torch.no_grad():
            return to_jax(function(*to_torch(arguments)))

    def forward(*arguments: Any) -> tuple[Any, _Residuals]:
        tensors = jax.tree.map(_differentiable, to_torch(arguments))
        with torch.enable_grad():
            results = function(*tensors)
        return to_jax(results), _Residuals(tensors, results)

    def backward(residuals: _Residuals, gradients: Any) -> Any:
        tensors, results = residuals.tensors, residuals.results
        wanted = [leaf for leaf in jax.tree.leaves(tensors) if _needs_gradient(leaf)]
        both = zip(jax.tree.leaves(results), jax.tree.leaves(gradients), strict=True)
        pairs = [(result, to_torch(g)) for result, g in both if _needs_gradient(result)]
        if not pairs:
            return jax.tree.map(lambda _: None, tensors)
        outs, given = zip(*pairs, strict=True)
        found = iter(torch.autograd.grad(outs, wanted, given, allow_unused=True))
        return jax.tree.map(
            lambda leaf: to_jax(next(found)) if _needs_gradient(leaf) else None, tensors
        )

    call.defvjp(forward, backward)
    return functools.wraps(function)(call)


class _Call:
    """Tree structures of one call's inputs and outputs."""

    def __init__(self, forward: Callable, inputs: Any) -> None:
        self.forward, self.inputs = forward, inputs
        self.outputs: Any = None


class _JaxFunction(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, call: _Call, *leaves: Any) -> tuple[torch.Tensor, ...]:
        arguments = jax.tree.unflatten(call.inputs, to_jax(leaves))
        results, context.pull = call.forward(*arguments)
        arrays, call.outputs = jax.tree.flatten(results)
        tensors = to_torch(tuple(arrays))
        context.mark_non_differentiable(*(t for t in tensors if not _is_inexact(t)))
        context.outputs, context.leaves = call.outputs, [_role(leaf) for leaf in leaves]
        return tensors

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[misc]
    def backward(context: Any, *gradients: torch.Tensor) -> tuple[Any, ...]:
        shapes = tuple(None if _is_inexact(g) else tuple(g.shape) for g in gradients)
        given = [to_jax(g) for g in gradients if _is_inexact(g)]
        found = iter(_pulled(context.pull, given, shapes, context.outputs))
        all_found = [next(found) if role != "exact" else None for role in context.leaves]
        wanted = zip(context.leaves, all_found, strict=True)
        return (None, *(to_torch(g) if role == "tensor" else None for role, g in wanted))


@functools.partial(jax.jit, static_argnums=(2, 3))
def _pulled(pull: Any, given: list[jax.Array], shapes: tuple, outputs: Any) -> list[jax.Array]:
    """Return the gradients of inexact inputs. ``shapes`` has the shape of each result without a gradient."""
    rest = iter(given)
    all_given = [next(rest) if s is None else np.zeros(s, jax.dtypes.float0) for s in shapes]
    found = jax.tree.leaves(pull(jax.tree.unflatten(outputs, all_given)))
    return [gradient for gradient in found if gradient.dtype != jax.dtypes.float0]


@jax.tree_util.register_pytree_node_class
class _Residuals:
    """Tensors that JAX passes from forward to backward as an opaque tree without leaves."""

    def __init__(self, tensors: Any, results: Any) -> None:
        self.tensors, self.results = tensors, results

    def tree_flatten(self) -> tuple[tuple, _Residuals]:
        return (), self

    @classmethod
    def tree_unflatten(cls, residuals: _Residuals, _: Any) -> _Residuals:
        return residuals


def _mapped(kind: type, change: Callable, tree: Any) -> Any:
    return jax.tree.map(lambda leaf: change(leaf) if isinstance(leaf, kind) else leaf, tree)


def _tensor(array: jax.Array) -> torch.Tensor:
    if isinstance(array, jax.core.Tracer):
        raise TypeError(
            "PyTorch cannot run inside of jax.jit, vmap or scan: call it outside of them"
        )
    return torch.from_dlpack(array)


def _is_inexact(leaf: Any) -> bool:
    if isinstance(leaf, torch.Tensor):
        return leaf.is_floating_point() or leaf.is_complex()
    return jnp.issubdtype(jnp.result_type(leaf), jnp.inexact)


def _role(leaf: Any) -> str:
    """Classify a leaf: JAX has a gradient for each inexact one, PyTorch accepts those of tensors."""
    if not _is_inexact(leaf):
        return "exact"
    return "tensor" if isinstance(leaf, torch.Tensor) else "number"


def _needs_gradient(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.requires_grad


def _differentiable(leaf: Any) -> Any:
    return leaf.detach().requires_grad_() if _is_inexact(leaf) else leaf

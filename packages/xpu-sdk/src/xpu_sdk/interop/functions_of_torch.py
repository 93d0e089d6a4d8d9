"""Functions of PyTorch as functions of arrays, which JAX differentiates."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import torch

from .trees import is_inexact, to_jax, to_torch


def jax_function(function: Callable) -> Callable:
    """Wrap a function of PyTorch as a function of arrays, through which JAX differentiates, to any order.

    It runs eagerly, so not inside of ``jit``. Gradients are those of its arguments; with
    ``torch.func.functional_call`` the parameters of a module can be arguments.
    """

    @jax.custom_vjp
    def call(*arguments: Any) -> Any:
        with torch.no_grad():
            return to_jax(function(*to_torch(arguments)))

    def forward(*arguments: Any) -> tuple[Any, Any]:
        if _has_tracers(arguments):  # JAX differentiates again: there are no tensors yet
            return call(*arguments), (arguments, _Graph())
        tensors = jax.tree.map(_differentiable, to_torch(arguments))
        with torch.enable_grad():
            results = function(*tensors)
        return to_jax(results), (arguments, _Graph(tensors, results))

    def backward(residuals: tuple[Any, _Graph], gradients: Any) -> Any:
        arguments, graph = residuals
        given = [g for g in jax.tree.leaves(gradients) if g.dtype != jax.dtypes.float0]
        if graph.results is None or _has_tracers((arguments, given)):
            # A function of PyTorch again, of which JAX takes the derivative.
            return jax_gradient()(arguments, given)
        return to_jax(_gradients(graph.tensors, graph.results, to_torch(given)))

    @functools.cache
    def jax_gradient() -> Callable:
        return jax_function(functools.partial(_computed_gradients, function))

    call.defvjp(forward, backward)
    return functools.wraps(function)(call)


@jax.tree_util.register_pytree_node_class
class _Graph:
    """Tensors and what was computed of them, which JAX passes on as an opaque tree without leaves."""

    def __init__(self, tensors: Any = None, results: Any = None) -> None:
        self.tensors, self.results = tensors, results

    def tree_flatten(self) -> tuple[tuple, _Graph]:
        return (), self

    @classmethod
    def tree_unflatten(cls, graph: _Graph, _: Any) -> _Graph:
        return graph


def _computed_gradients(function: Callable, arguments: Any, given: list[torch.Tensor]) -> Any:
    """Return the arguments' gradients, which PyTorch can differentiate where it records gradients."""
    is_recorded = torch.is_grad_enabled()
    with torch.enable_grad():
        tensors = arguments if is_recorded else jax.tree.map(_differentiable, arguments)
        return _gradients(tensors, function(*tensors), given, is_recorded)


def _gradients(
    tensors: Any, results: Any, given: list[torch.Tensor], is_recorded: bool = False
) -> Any:
    """Return the gradients of the tensors for those of the inexact results, None where there are none.

    PyTorch's gradient of a complex number is the conjugate of JAX's.
    """
    wanted = [leaf for leaf in jax.tree.leaves(tensors) if _needs_gradient(leaf)]
    inexact = [leaf for leaf in jax.tree.leaves(results) if is_inexact(leaf)]
    both = zip(inexact, given, strict=True)
    # JAX makes the first gradient, 1, on the default device.
    pairs = [
        (result, gradient.to(result.device).conj())
        for result, gradient in both
        if _needs_gradient(result)
    ]
    if not pairs:
        return jax.tree.map(lambda _: None, tensors)
    outs, of_outs = zip(*pairs, strict=True)
    # JAX may call a pullback several times.
    options = {"allow_unused": True, "retain_graph": True, "create_graph": is_recorded}
    found = iter(torch.autograd.grad(outs, wanted, of_outs, **options))

    def gradient(leaf: Any) -> Any:
        value = next(found) if _needs_gradient(leaf) else None
        return None if value is None else value.conj()

    return jax.tree.map(gradient, tensors)


def _has_tracers(tree: Any) -> bool:
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(tree))


def _needs_gradient(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.requires_grad


def _differentiable(leaf: Any) -> Any:
    if not isinstance(leaf, torch.Tensor) or not is_inexact(leaf):
        return leaf
    return leaf.detach().requires_grad_()
